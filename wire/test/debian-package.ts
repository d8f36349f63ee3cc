/**
 * Installs a Debian package with apt-get, if its program is missing and this process is root. Returns the reason if the
 * program is still missing. `program` is its name on the PATH, or its absolute path.
 */
export async function missingPackage(name: string, program = name): Promise<string | undefined> {
  const isThere = () => Bun.which(program, { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }) !== null
  if (isThere()) return undefined
  const advice = `${name} is not installed: apt-get install ${name}`
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) return advice
  const command = ['flock', '/var/lock/petstore-tests', 'sh', '-c', INSTALL, 'install', name]
  const install = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' })
  const [stderr] = await Promise.all([new Response(install.stderr).text(), install.exited])
  return isThere() ? undefined : `${advice}\n${stderr}`
}

/**
 * Installs a package. Prevents Debian from starting the service of the package, and postgresql-common from creating a
 * database cluster.
 */
const INSTALL = `
  printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
  cluster=/etc/postgresql-common/createcluster.conf
  mkdir -p /etc/postgresql-common
  [ -e "$cluster" ] || echo 'create_main_cluster = false' >"$cluster"
  export DEBIAN_FRONTEND=noninteractive
  install() { apt-get install --quiet --yes --no-install-recommends -o DPkg::Lock::Timeout=300 "$1"; }
  install "$1" || { apt-get update --quiet && install "$1"; }
  rm -f /usr/sbin/policy-rc.d`
