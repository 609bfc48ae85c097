#!/usr/bin/env python3
"""Tests of check_prose.py: every rule sees its offence in a page, a header and a program, and leaves the rest alone."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

import check_prose

OFFENCES = {  # pattern of WORDS: sentences that it must see
    r"(?:is|are|was|were|be|has|have) (?-i:none)": ["It throws for a tree that is none.", "The files are none."],
    r"besides?": ["A test stands beside the kernel.", "Besides, it is fast."],
    r"anew": ["The sums are computed anew."],
    r"of (?:its|their|one's|your) own": ["Every thread has a buffer of its own.", "Chains have seeds of their own."],
    r"of which": ["There are eight lanes, of which seven are idle."],
    r"whose": ["Rows whose sum is zero are skipped."],
    r"tells?|told": ["The status tells why.", "The caller is told."],
    r"somebody|nobody": ["Somebody else frees it.", "Nobody reads it."],
    r"lives": ["The buffer lives on the device."],
}
LONG = "The function returns " + " ".join(["one"] * 33) + "."
MANY = "The function returns the number of the points that it sees, because it counts each of them once per call."
FILES = {"README.md": "# A title\n\n{}\n", "include/quintet/a.hpp": "/// {}\nint f();\n",
         "include/quintet/b.h": "/* {}\n */\nint f(void);\n", "programs/a.cpp": 'const char* help = "{}";\n'}
DOCSTRING = 'def f():\n    """{}"""\n'


def check(name, content):
    """The words that are not allowed, and the remarks on length."""
    with tempfile.TemporaryDirectory() as source:
        path = os.path.join(source, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return check_prose.check(path, name)[:2]


def problems(name, content):
    return check(name, content)[0]


class Rules(unittest.TestCase):
    def test_every_word_has_an_offence(self):
        self.assertEqual(set(OFFENCES), set(check_prose.WORDS))

    def test_words(self):
        for pattern, sentences in OFFENCES.items():
            for sentence in sentences:
                for name, frame in [*FILES.items(), ("python/quintet/a.py", DOCSTRING)]:
                    found = problems(name, frame.format(sentence))
                    self.assertEqual(len(found), 1, (name, sentence, found))
                    self.assertRegex(found[0], rf'^{re.escape(name)}:\d+: "(?i:{pattern})", write ')
                    self.assertTrue(found[0].endswith(sentence), found[0])

    def test_words_in_tables_and_members(self):
        self.assertEqual(len(problems("README.md", "| a | of which |\n")), 1)
        self.assertEqual(len(problems("a.hpp", "int a;  ///< points whose list is empty\n")), 1)

    def test_long_sentence(self):
        for name, frame in FILES.items():
            wrong, long = check(name, frame.format(LONG + " It is short. So is this."))
            self.assertEqual((wrong, len(long)), ([], 1), (name, long))
            self.assertIn("36 words, more than 35", long[0])

    def test_mean(self):
        for name, frame in FILES.items():
            wrong, long = check(name, frame.format(MANY))
            self.assertEqual((wrong, len(long)), ([], 1), (name, long))
            self.assertIn("20.0 words a sentence on average, more than 18", long[0])
            self.assertEqual(check(name, frame.format(MANY + " It is short.")), ([], []))

    def test_line(self):
        self.assertRegex(problems("README.md", "A title.\n\nThe first\nsentence. Rows\nwhose sum is 0.\n")[0], r"^README.md:4: ")

    def test_code_is_left_alone(self):
        for page in ("```text\nof which\n```\n", "<!-- of which\nanew -->\n", "`nobody` is a value.\n",
                     "[a page](nobody.md) is linked.\n"):
            self.assertEqual(check("README.md", page + "\nIt is short.\n"), ([], []))
        self.assertEqual(problems("a.hpp", 'const char* nobody = "whose // told";\n'), [])
        self.assertEqual(check("a.hpp", "//   " + "long " * 40 + "\n"), ([], []))
        self.assertEqual(problems("a.hpp", "/// \\code\n/// whose\n/// \\endcode\n"), [])
        self.assertEqual(problems("a.cpp", '#include "whose/told/anew/lives.hpp"\n// nobody reads what is told\n'), [])

    def test_docstrings(self):
        for text in (">>> nobody", "The device may be None.", "``whose`` is a value.", "word " * 40):
            self.assertEqual(check("a.py", DOCSTRING.format(text)), ([], []))
        self.assertRegex(problems("a.py", DOCSTRING.format("A sum.\n\n    Rows\n    whose sum is 0."))[0], r"^a.py:4: ")
        self.assertEqual(problems("a.py", "def f():\n    return 'whose'  # nobody\n"), [])

    def test_sentences(self):
        text = check_prose.Text()
        text.add(1, "See Campello et al. (2013), e.g. for b = 0 ... B - 1. It is 3.5 long. \"Is it?\" Yes")
        self.assertEqual([sentence for _, sentence in text.sentences()],
                         ["See Campello et al. (2013), e.g. for b = 0 ... B - 1.", "It is 3.5 long.", '"Is it?"', "Yes"])


class Program(unittest.TestCase):
    def run_on(self, content, *paths):
        with tempfile.TemporaryDirectory() as source:
            with open(os.path.join(source, "README.md"), "w", encoding="utf-8") as file:
                file.write(content)
            command = [sys.executable, check_prose.__file__, "--source", source, *paths]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_exit_status(self):
        self.assertEqual(self.run_on("It is short.\n", "README.md").returncode, 0)
        self.assertEqual(self.run_on("It is computed anew.\n", "README.md").returncode, 1)
        self.assertEqual(self.run_on(LONG + "\n", "README.md").returncode, 0)
        self.assertEqual(self.run_on("").returncode, 1)

    def test_lengths_are_counted_and_listed_on_request(self):
        remark = "README.md:1: 36 words, more than 35"
        text = LONG + " It is short. So is this.\n"
        counted, listed = self.run_on(text).stdout, self.run_on(text, "--lengths").stdout
        self.assertNotIn(remark, counted)
        self.assertIn("words that are not allowed: 0; remarks on length: 1", counted)
        self.assertIn(remark, listed)

    def test_all_files_are_found(self):
        names = ["CONTRIBUTING.md", "README.md", "docs/a.md", "docs/design/b.md", "include/q/a.hpp", "include/q/c/a.h",
                 "programs/a.cpp", "programs/s/b.cpp", "python/quintet/torch/a.py"]
        with tempfile.TemporaryDirectory() as source:
            for name in [*names, "src/a.cpp", "docs/a.txt"]:
                os.makedirs(os.path.dirname(os.path.join(source, name)), exist_ok=True)
                with open(os.path.join(source, name), "w", encoding="utf-8"):
                    pass
            self.assertEqual(sorted(check_prose.files_of(source)), names)


if __name__ == "__main__":
    unittest.main()
