"""The APIs of other projects, on top of `Sandbox`: code that was written for them runs here."""
