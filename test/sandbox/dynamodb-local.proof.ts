import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { javaArguments } from '../../sandbox/dynamodb-local.ts'

test('the committed class file equals the output of javac', () => {
  const folder = 'sandbox/java'
  const output = mkdtempSync(join(tmpdir(), 'wrapper-'))
  const classPath = javaArguments().at(-1) ?? ''
  const compile = ['--release', '17', '-g:none', '-proc:none', '-classpath', classPath]
  const { status, stderr } = spawnSync('javac', [
    ...compile,
    '-d',
    output,
    join(folder, 'LocalDynamoDb.java'),
  ])
  expect(status, String(stderr)).toBe(0)
  const compiled = (path: string) => readFileSync(join(path, 'LocalDynamoDb.class'))
  expect(compiled(output).equals(compiled(folder))).toBe(true)
  rmSync(output, { recursive: true })
})
