"""APIs of other sandbox products on top of `Sandbox`, so that code written for them runs here."""
