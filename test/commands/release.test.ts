import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pythonComponent, thirdPartyNotices } from '../../commands/third-party-notices.ts'
import { newFolder } from '../support/folders.ts'

const read = (file: string): string => readFileSync(file, 'utf8')

test('the service, both clients, their change logs and the file names in guides have the same version', () => {
  const { version } = JSON.parse(read('package.json'))
  const client = JSON.parse(read('sdk/typescript/package.json')).version
  const [, constant] = /VERSION = '(.+)'/.exec(read('sdk/typescript/src/version.ts')) ?? []
  const [, python] =
    /__version__ = "(.+)"/.exec(read('sdk/python/src/debit_collection/version.py')) ?? []
  const locked = JSON.parse(read('package-lock.json'))
  const own = [client, constant, python, locked.version, locked.packages[''].version]
  expect(own).toEqual(own.map(() => version))
  const pages = globSync('{docs,sdk/*}/*.md').map(read).join('')
  const files = [...pages.matchAll(/debit[-_]collection(?:-service)?-([0-9.]+[0-9])/g)]
  expect(files.length).toBeGreaterThan(3)
  expect(files.map(([, named]) => named)).toEqual(files.map(() => version))
  for (const file of ['CHANGELOG.md', 'sdk/typescript/CHANGELOG.md', 'sdk/python/CHANGELOG.md']) {
    const [unreleased = '', ...released] = read(file).split(/^(?=## \[[0-9])/m)
    const [, next] = /^This version becomes ([0-9.]+)\./m.exec(unreleased) ?? []
    const [, last] = /^## \[([0-9.]+)\]/.exec(released[0] ?? '') ?? []
    expect(next ?? last).toBe(version)
    expect(released.join('')).not.toContain('This version becomes')
  }
})

test('the bill of materials of the Python client has the tested version of httpx', () => {
  const tested = /^httpx==(.*)$/m.exec(read('sdk/python/requirements.in'))?.[1]
  expect(pythonComponent('httpx', 'BSD-3-Clause')).toMatchObject({
    version: tested,
    purl: `pkg:pypi/httpx@${tested}`,
  })
})

test('a package without a text of its licence gets the terms of the licence, and an unknown licence is refused', () => {
  const notices = thirdPartyNotices('.', ['node_modules/dinero.js/lib/index.js'], [])
  expect(notices).toMatch(
    /^dinero\.js [0-9.]+, MIT, by Sarah Dayan\n\nPermission is hereby granted/,
  )
  const unknown = newFolder()
  mkdirSync(join(unknown, 'node_modules/odd'), { recursive: true })
  cpSync('LICENSE', join(unknown, 'LICENSE'))
  const manifest = { name: 'odd', version: '1.0.0', license: 'ISC' }
  writeFileSync(join(unknown, 'node_modules/odd/package.json'), JSON.stringify(manifest))
  const build = () => thirdPartyNotices(unknown, ['node_modules/odd/index.js'], [])
  expect(build).toThrow('odd has no text of its licence ISC')
})
