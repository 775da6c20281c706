#!/usr/bin/env bash
# Installs what ci.sh needs of Debian and this machine lacks: a broker, ffmpeg, and what the tests call.
set -eu
missing=()
[ -x /usr/sbin/nats-server ] || command -v nats-server >/dev/null || missing+=(nats-server)
[ -x /usr/sbin/mosquitto ] || command -v mosquitto >/dev/null || missing+=(mosquitto)
command -v ffmpeg >/dev/null || missing+=(ffmpeg)
# A camera over RTSP: GStreamer's server, driven by Debian's Python.
server=(python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good)
[ "$(dpkg-query -W -f '${db:Status-Abbrev}' "${server[@]}" 2>/dev/null)" = "ii ii ii ii " ] || missing+=("${server[@]}")
command -v ps >/dev/null || missing+=(procps)
command -v unshare >/dev/null || missing+=(util-linux)
command -v mount >/dev/null || missing+=(mount)
command -v openssl >/dev/null || missing+=(openssl)
command -v systemd-analyze >/dev/null || missing+=(systemd)
[ ${#missing[@]} -eq 0 ] && exit 0
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
as_root apt-get update -qq
as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
