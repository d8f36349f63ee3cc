import { fileURLToPath } from 'node:url'
import { VERSION } from '../core/values/version.ts'

/** Set when the executable is built. Empty if the build did not know the commit. */
declare const BUILD_COMMIT: string | undefined

/** `1.1.0 (538dea5)`, or only the version if the commit is not known. */
export function versionText(): string {
  const commit = typeof BUILD_COMMIT === 'string' ? BUILD_COMMIT : (readCommit() ?? '')
  return commit === '' ? VERSION : `${VERSION} (${commit})`
}

/** The commit of the checkout that these sources are in. */
export function readCommit(): string | undefined {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  try {
    const { exitCode, stdout } = Bun.spawnSync(
      ['git', '-C', root, 'rev-parse', '--show-prefix', '--short', 'HEAD'],
      { stderr: 'ignore' },
    )
    const [prefix, commit] = stdout.toString().split('\n')
    // Sources without a repository of their own may be inside another repository.
    return exitCode === 0 && prefix === '' ? commit : undefined
  } catch {
    // git is not installed.
    return undefined
  }
}
