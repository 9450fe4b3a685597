import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { javaArguments } from '../../../sandbox/localstack/dynamodb-local.ts'

test('the committed class file equals the output of javac', () => {
  const folder = 'sandbox/localstack/java'
  const output = mkdtempSync(join(tmpdir(), 'wrapper-'))
  const classPath = javaArguments().at(-1) ?? ''
  const options = ['--release', '17', '-g:none', '-proc:none', '-classpath', classPath]
  const source = join(folder, 'LocalDynamoDb.java')
  const { status, stderr } = spawnSync('javac', [...options, '-d', output, source])
  expect(status, String(stderr)).toBe(0)
  const compiled = (path: string) => readFileSync(join(path, 'LocalDynamoDb.class'))
  expect(compiled(output).equals(compiled(folder))).toBe(true)
  rmSync(output, { recursive: true })
})
