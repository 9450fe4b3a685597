import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartFailure } from '../start-failure.ts'
import { BUNDLE_PROCESS } from './function-processes.ts'

/**
 * Builds the bundles into a folder that is removed at the end of this process.
 * @returns the file of a bundle, by the name of its function
 * @throws StartFailure in the packed command, which contains no sources
 */
export const buildForSandbox = async (): Promise<(name: string) => string> => {
  if (!existsSync(BUNDLE_PROCESS)) throw new StartFailure('--bundles needs the repository')
  const { buildBundles, bundleFile } = await import('../../infra/bundles/build.ts')
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'))
  process.once('exit', () => rmSync(folder, { recursive: true }))
  await buildBundles(undefined, folder)
  return (name) => bundleFile(name, folder)
}
