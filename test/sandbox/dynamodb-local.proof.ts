import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { javaArguments } from '../../sandbox/dynamodb-local.ts'

test('the compiled runner of DynamoDB Local is what javac makes of its source', () => {
  const folder = 'sandbox/java'
  const made = mkdtempSync(join(tmpdir(), 'runner-'))
  const classPath = javaArguments().at(-1) ?? ''
  const options = ['--release', '17', '-g:none', '-proc:none', '-d', made, '-classpath', classPath]
  const { status, stderr } = spawnSync('javac', [...options, join(folder, 'LocalDynamoDb.java')])
  expect(status, String(stderr)).toBe(0)
  const compiled = (place: string) => readFileSync(join(place, 'LocalDynamoDb.class'))
  expect(compiled(made).equals(compiled(folder))).toBe(true)
  rmSync(made, { recursive: true })
})
