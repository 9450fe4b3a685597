import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    usesFolder: string
  }
}

/** Provides the folder in which the test processes of a run record the permissions they used. */
export default (project: TestProject): (() => void) => {
  const folder = mkdtempSync(join(tmpdir(), 'permissions-used-'))
  project.provide('usesFolder', folder)
  return () => rmSync(folder, { recursive: true })
}
