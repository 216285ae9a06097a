"""A tray on the session bus, for tests: takes icons, reads their menu, chooses from it.

Reads one question a line and answers with one: `menu` gives the words of the items, divided by
tabs; `choose WORDS` presses the first item that begins with WORDS.
"""

import sys
import threading

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

WATCHER = "org.kde.StatusNotifierWatcher"
MENU = "com.canonical.dbusmenu"
PROPERTIES = "org.freedesktop.DBus.Properties"


class Watcher(dbus.service.Object):
    """What icons register with."""

    def __init__(self, bus):
        self.bus = bus
        self.items = []
        self.name = dbus.service.BusName(WATCHER, bus)
        super().__init__(bus, "/StatusNotifierWatcher")

    @dbus.service.method(WATCHER, in_signature="s", sender_keyword="sender")
    def RegisterStatusNotifierItem(self, item, sender=None):
        place = item if item.startswith("/") else "/StatusNotifierItem"
        self.items.append((sender, place))

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.GetAll(interface)[name]

    @dbus.service.method(PROPERTIES, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        items = [sender + place for sender, place in self.items]
        return {
            "IsStatusNotifierHostRegistered": dbus.Boolean(True),
            "ProtocolVersion": dbus.Int32(0),
            "RegisteredStatusNotifierItems": dbus.Array(items, signature="s"),
        }

    def menu(self):
        """The menu's proxy and its items as (id, words), from the top."""
        sender, place = self.items[-1]
        properties = dbus.Interface(self.bus.get_object(sender, place), PROPERTIES)
        path = properties.Get("org.kde.StatusNotifierItem", "Menu")
        proxy = dbus.Interface(self.bus.get_object(sender, path), MENU)
        _, layout = proxy.GetLayout(0, -1, [])
        items = [(int(child[0]), str(child[1].get("label", ""))) for child in layout[2]]
        return proxy, [(number, words.replace("_", "")) for number, words in items if words]

    def answer(self, question):
        if not self.items:
            return ""
        proxy, items = self.menu()
        if question == "menu":
            return "\t".join(words for _, words in items)
        wanted = question.removeprefix("choose ")
        for number, words in items:
            if words.startswith(wanted):
                proxy.Event(number, "clicked", dbus.Int32(0), dbus.UInt32(0))
                return "chosen"
        return "no such item: " + ", ".join(words for _, words in items)


def say(words):
    print(words, flush=True)


def answered(watcher, question):
    try:
        say(watcher.answer(question))
    except dbus.DBusException as error:
        # A menu that is being drawn anew is read again by whoever waits for it.
        print(error, file=sys.stderr)
        say("")
    return False


def main():
    DBusGMainLoop(set_as_default=True)
    watcher = Watcher(dbus.SessionBus())
    loop = GLib.MainLoop()

    def listen():
        for line in sys.stdin:
            GLib.idle_add(answered, watcher, line.strip())
        GLib.idle_add(loop.quit)

    threading.Thread(target=listen, daemon=True).start()
    GLib.idle_add(say, "ready")
    loop.run()


main()
