import manifest from '../../package.json'

/** The version of this release, as CHANGELOG.md names it. */
export const RELEASE: string = manifest.version
