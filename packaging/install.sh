#!/bin/sh
# Installs the service, or upgrades it: as root, from the unpacked folder. Settings and data stay. With DESTDIR, only
# copies the files below that folder.
set -eu
cd "$(dirname "$0")"
root=${DESTDIR:-}
if [ -z "$root" ]; then
  getent passwd petstore >/dev/null ||
    useradd --system --user-group --home-dir /var/lib/petstore --no-create-home --shell /usr/sbin/nologin petstore
  install -d -o petstore -g petstore -m 700 /var/lib/petstore /var/backups/petstore
fi
install -D -m 755 lib/petstore/petstore "$root/usr/lib/petstore/petstore.new"
mv "$root/usr/lib/petstore/petstore.new" "$root/usr/lib/petstore/petstore"
install -D -m 755 bin/petstore "$root/usr/bin/petstore"
install -D -m 755 petstore-admin "$root/usr/sbin/petstore-admin"
[ -e "$root/etc/petstore/petstore.env" ] || install -D -m 640 systemd/petstore.env "$root/etc/petstore/petstore.env"
for unit in systemd/*.service systemd/*.socket systemd/*.timer; do
  install -D -m 644 "$unit" "$root/etc/systemd/system/$(basename "$unit")"
done
for service in petstore.service petstore@.service petstore-.service; do
  install -D -m 644 systemd/service-user.conf "$root/etc/systemd/system/$service.d/service-user.conf"
done
if [ -z "$root" ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  instances=$(systemctl list-units --plain --no-legend 'petstore@*.service' | cut -d ' ' -f 1)
  if [ -n "$instances" ]; then
    # Each restart ends when the instance is ready. The pause lets the load balancer notice.
    for instance in $instances; do
      systemctl restart "$instance"
      sleep 2
    done
  else
    systemctl enable --now petstore.socket petstore.service
    # The socket stays open meanwhile, so no connection is refused.
    systemctl restart petstore.service
  fi
fi
