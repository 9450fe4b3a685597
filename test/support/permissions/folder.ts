import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    callsFolder: string
  }
}

/** Provides the folder in which the test processes of a run record the calls of functions. */
export default (project: TestProject): (() => void) => {
  const folder = mkdtempSync(join(tmpdir(), 'calls-'))
  project.provide('callsFolder', folder)
  return () => rmSync(folder, { recursive: true })
}
