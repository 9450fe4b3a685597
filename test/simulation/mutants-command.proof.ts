import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** `npm run simulate:planted`, as it is typed. */

let copies = ''

beforeAll(async () => {
  copies = await mkdtemp(join(tmpdir(), 'copies-'))
})

afterAll(() => rm(copies, { recursive: true }))

const ran = async (...args: string[]): Promise<{ code: number; out: string }> =>
  promisify(execFile)(process.execPath, ['simulation/mutants/main.ts', ...args], {
    env: { ...process.env, TMPDIR: copies },
  }).then(
    ({ stdout }) => ({ code: 0, out: stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, out: stdout }),
  )

test('faults are told by what they break, and nothing is left behind', async () => {
  const only = ['signature-in-capitals', 'history-written-over'].flatMap((one) => ['--only', one])
  const { code, out } = await ran('--lifecycles', '200', ...only)
  expect(out).toMatch(/^history-written-over +order +.*\b12\b/m)
  expect(out).toMatch(/^signature-in-capitals +signing +.*\b18\b/m)
  expect(out).toMatch(/\n2 of 2 caught \(100 %\)\n$/)
  expect(code).toBe(0)
  expect(await readdir(copies)).toEqual([])
})

test('a fault that there is not is told, and what is no number', async () => {
  const unknown = await ran('--only', 'nothing-wrong')
  expect(unknown).toEqual({ code: 1, out: 'There is no fault nothing-wrong.\n' })
  expect((await ran('--lifecycles', 'many')).code).toBe(2)
})
