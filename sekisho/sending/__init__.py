"""An approved act is carried out: looked at again, consumed, sent, recorded; in the approver's process."""
