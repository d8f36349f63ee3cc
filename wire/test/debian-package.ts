/**
 * Returns why a program of a Debian package is missing, after trying to install the package: as root, with apt-get.
 * `program` is the name of the program on the PATH, or its absolute path.
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
 * Installs one package at a time, whichever process asks. Debian would start a package's service right away, and
 * postgresql-common would create a database cluster; both are prevented.
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
