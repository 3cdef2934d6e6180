"""Large answers: each occupies a thread until its client has taken it, so only some are sent at the same time."""

from io import FileIO
from typing import Any, Final
from weakref import finalize

from photosvc.web.current import current_service
from photosvc.web.transfers.busy import ServerBusyError, TooManyAtOnceError, take_slot

#: Bytes of the largest answer that is not counted. photosvc.serving keeps the rest of it for a slow client.
SMALL: Final = 1 << 20


class TransfersBusyError(ServerBusyError):
    """The server sends as many large answers as it may: ask again."""

    retry_after = 10


class TooManyTransfersError(TooManyAtOnceError):
    """You are downloading several large answers already: wait until one of them is complete."""

    retry_after = 10


class TransferredFile(FileIO):
    """The same open file, whose slot is freed when it is closed."""

    def __init__(self, descriptor: int) -> None:
        """Take the descriptor, which is closed with this file.

        Raises:
            TransfersBusyError: this process has no slot left.
            TooManyTransfersError: the principal has no slot left.

        """
        self._free: finalize[[], Any] | None = None
        super().__init__(descriptor)
        try:
            self._free = begin_transfer(self)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        super().close()
        if self._free is not None:
            self._free()


def begin_transfer(answer: Any) -> "finalize[[], Any]":  # noqa: ANN401
    """Take a slot for a large answer; gives what frees it, which is also called when the answer is dropped unread.

    Raises:
        TransfersBusyError: this process has no slot left.
        TooManyTransfersError: the principal has no slot left.

    """
    return finalize(answer, take_slot(current_service().transfers, TransfersBusyError, TooManyTransfersError))
