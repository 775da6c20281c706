"""A camera over RTSP: GStreamer's server with one live stream of JPEG over RTP, behind a user and a password.

usage: camera.py PORT COLOUR      COLOUR fills each picture of 32 x 24, as 0xRRGGBB. Prints "ready" once it listens.
"""

import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

port, colour = sys.argv[1], int(sys.argv[2], 16)
Gst.init(None)

factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(
    f"( videotestsrc is-live=true pattern=solid-color foreground-color={0xFF000000 | colour} "
    "! video/x-raw,format=I420,width=32,height=24,framerate=20/1 ! jpegenc quality=100 ! rtpjpegpay name=pay0 pt=26 )"
)
factory.set_shared(True)
permissions = GstRtspServer.RTSPPermissions()
for what in ["access", "construct"]:
    permissions.add_permission_for_role("user", f"media.factory.{what}", True)
factory.set_permissions(permissions)

token = GstRtspServer.RTSPToken()
token.set_string("media.factory.role", "user")
auth = GstRtspServer.RTSPAuth()
auth.add_basic(GstRtspServer.RTSPAuth.make_basic("user", "secret"), token)

server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service(port)
server.set_auth(auth)
server.get_mount_points().add_factory("/live", factory)
if server.attach(None) == 0:
    sys.exit(f"cannot listen on port {port}")
print("ready", flush=True)
GLib.MainLoop().run()
