import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const created: string[] = []
afterAll(() => {
  for (const folder of created.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** Creates an empty folder until the end of the test file. */
export const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'test-'))
  created.push(folder)
  return folder
}
