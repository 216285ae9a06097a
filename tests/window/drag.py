"""Something to drag from: python3 drag.py PATH. It lies above everything at the upper left corner of
the screen and says, a line each, what has come about: `ready X Y`, where the pointer can be put down;
`begun`; `taken` and `not taken`, as often as what the pointer is over changes its mind; and at the
end, with which it ends, `dropped` or `refused`."""

import pathlib
import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, Gtk  # noqa: E402

SIZE = 80

address = pathlib.Path(sys.argv[1]).resolve().as_uri()


def say(words):
    print(words, flush=True)


def ready(window, _event):
    _, left, top = window.get_window().get_origin()
    say(f"ready {left + SIZE // 2} {top + SIZE // 2}")


def begun(_window, context):
    taken = lambda _context, action: say("taken" if action else "not taken")  # noqa: E731
    context.connect("action-changed", taken)
    context.connect("drop-performed", lambda *_: say("dropped"))
    say("begun")


def refused(_window, _context, _result):
    say("refused")
    return True


# No window manager has a say in where it lies.
window = Gtk.Window(type=Gtk.WindowType.POPUP)
window.set_default_size(SIZE, SIZE)
window.drag_source_set(
    Gdk.ModifierType.BUTTON1_MASK,
    [Gtk.TargetEntry.new("text/uri-list", 0, 0)],
    Gdk.DragAction.COPY,
)
window.connect("map-event", ready)
window.connect("drag-begin", begun)
window.connect("drag-data-get", lambda _window, _context, data, *_: data.set_uris([address]))
window.connect("drag-failed", refused)
window.connect("drag-end", lambda *_: Gtk.main_quit())
window.show_all()
window.move(0, 0)
Gtk.main()
