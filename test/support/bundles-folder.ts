import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildBundles } from '../../infra/bundles/build.ts'

declare module 'vitest' {
  interface ProvidedContext {
    bundlesFolder: string
  }
}

/** Builds the bundles once for the run. */
export default async (project: TestProject): Promise<() => void> => {
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'))
  await buildBundles(undefined, folder)
  project.provide('bundlesFolder', folder)
  return () => rmSync(folder, { recursive: true })
}
