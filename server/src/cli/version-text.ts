import { VERSION } from '../core/values/version.ts'

/** Set by server/scripts/build.ts. Empty if the build did not know the commit. */
declare const BUILD_COMMIT: string | undefined

/** `1.1.0 (538dea5)` in an executable, or only the version if the commit is not known. */
export function versionText(): string {
  const commit = typeof BUILD_COMMIT === 'string' ? BUILD_COMMIT : ''
  return commit === '' ? VERSION : `${VERSION} (${commit})`
}
