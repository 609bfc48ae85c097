"""Exceptions of the library. Every message names the argument or file, its value, and what is allowed."""

from __future__ import annotations

__all__ = ["Cancelled", "DeviceError", "Error", "FileError", "InvalidArgument", "NetworkError", "OutOfMemory"]


class Error(RuntimeError):
    """Root of all exceptions that the library raises."""

    __module__ = "quintet"


class InvalidArgument(Error, ValueError):
    """An argument outside its documented range."""

    __module__ = "quintet"


class NetworkError(InvalidArgument):
    """A text that is no phylogenetic network, or a network that breaks a rule.

    ``reason`` names the rule; ``position`` is the byte of the text, from 0, where it fails, or None.
    """

    __module__ = "quintet"
    reason: str = ""
    position: int | None = None


class FileError(Error, OSError):
    """A file that cannot be read, parsed or written. ``lineno`` counts from 1, None where no line is to blame."""

    __module__ = "quintet"
    lineno: int | None = None

    def __init__(self, message: str = "", filename: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if filename is not None:
            self.filename = filename
            rest = message.removeprefix(f"{filename}:")
            number = rest.partition(":")[0]
            if rest != message and number.isdigit():
                self.lineno = int(number)

    def __str__(self) -> str:
        return self.message


class DeviceError(Error):
    """A device that was demanded and is absent, or that failed; memory that is not on the right device."""

    __module__ = "quintet"


class OutOfMemory(DeviceError, MemoryError):
    """An allocation that did not succeed; the text states the bytes and the device."""

    __module__ = "quintet"


class Cancelled(Error):
    """A progress callback returned False."""

    __module__ = "quintet"
