/** Why a Debian package is not installed, after an attempt to install it. Its program is named after it, or given. */
export async function missingPackage(name: string, program = name): Promise<string | undefined> {
  const isThere = () => Bun.which(program, { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }) !== null
  if (isThere()) return undefined
  const advice = `${name} is not installed: apt-get install ${name}`
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) return advice
  const command = ['flock', '/var/lock/petstore-tests', 'sh', '-c', INSTALL, 'install', name]
  const install = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' })
  const [said] = await Promise.all([new Response(install.stderr).text(), install.exited])
  return isThere() ? undefined : `${advice}\n${said}`
}

/** One after the other, whoever asks. Debian would start what it installs as a service: nobody asked for one. */
const INSTALL = `
  printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
  export DEBIAN_FRONTEND=noninteractive
  install() { apt-get install --quiet --yes --no-install-recommends -o DPkg::Lock::Timeout=300 "$1"; }
  install "$1" || { apt-get update --quiet && install "$1"; }
  rm -f /usr/sbin/policy-rc.d`
