import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'vitest'
import { expectOneLine, runScript } from '../../support/commands.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'programs-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Runs the command with a PATH that contains only the given programs. */
const proveStack = (...programs: readonly string[]) => {
  for (const name of programs) symlinkSync('/bin/true', join(folder, name))
  return runScript(['proofs/stacks/deploy.ts'], { PATH: folder, HOME: folder })
}

test('the command prove:stack names a missing Java', async () => {
  expectOneLine(await proveStack(), 'Java is missing')
})

test('the command prove:stack names a missing Python', async () => {
  const line = 'Python 3.12 or 3.13 with venv is required on the PATH'
  expectOneLine(await proveStack('java', 'python3'), line)
})
