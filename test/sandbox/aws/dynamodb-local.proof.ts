import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { javaArguments } from '../../../sandbox/localstack/dynamodb-local.ts'
import { newFolder } from '../../support/folders.ts'

test('the committed class file equals the output of javac', () => {
  const folder = 'sandbox/localstack/java'
  const output = newFolder()
  const classPath = javaArguments().at(-1) ?? ''
  const options = ['--release', '17', '-g:none', '-proc:none', '-classpath', classPath]
  const source = join(folder, 'LocalDynamoDb.java')
  const { status, stderr } = spawnSync('javac', [...options, '-d', output, source])
  expect(status, String(stderr)).toBe(0)
  const compiled = (path: string) => readFileSync(join(path, 'LocalDynamoDb.class'))
  expect(compiled(output).equals(compiled(folder))).toBe(true)
})
