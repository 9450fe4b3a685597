import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pythonComponent } from '../../commands/third-party-notices.ts'

const read = (file: string): string => readFileSync(file, 'utf8')

test('the service, both clients and their change logs have the same version', () => {
  const { version } = JSON.parse(read('package.json'))
  const client = JSON.parse(read('sdk/typescript/package.json')).version
  const [, constant] = /VERSION = '(.+)'/.exec(read('sdk/typescript/src/version.ts')) ?? []
  const [, python] =
    /__version__ = "(.+)"/.exec(read('sdk/python/src/debit_collection/version.py')) ?? []
  expect([client, constant, python]).toEqual([version, version, version])
  for (const file of ['CHANGELOG.md', 'sdk/typescript/CHANGELOG.md', 'sdk/python/CHANGELOG.md']) {
    const changes = read(file)
    const [, released = ''] = /^## \[([0-9.]+)\]/m.exec(changes) ?? []
    const [, next = ''] = /^This version becomes ([0-9.]+)\./m.exec(changes) ?? []
    expect([released, next]).toContain(version)
  }
})

test('the bill of materials of the Python client has the tested version of httpx', () => {
  const tested = /^httpx==(.*)$/m.exec(read('sdk/python/requirements.in'))?.[1]
  expect(pythonComponent('httpx')).toMatchObject({
    version: tested,
    purl: `pkg:pypi/httpx@${tested}`,
  })
})
