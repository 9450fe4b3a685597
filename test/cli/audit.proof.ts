import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'

/** `npm run audit`, against a registry that answers as a test tells it. */

type Answer = (response: ServerResponse) => unknown

const cache = mkdtempSync(join(tmpdir(), 'audit-'))
afterAll(() => rmSync(cache, { recursive: true, force: true }))

const audited = async (answer: Answer, ...options: string[]) => {
  const server = createServer((request, response) => {
    const isAudit = request.url?.startsWith('/-/npm/v1/security/advisories')
    request.resume().on('end', () => (isAudit ? answer : json(known(request.url)))(response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const env = {
    ...process.env,
    npm_config_registry: `http://127.0.0.1:${port}`,
    npm_config_cache: cache,
  }
  const ran = promisify(execFile)(process.execPath, ['cli/audit.ts', ...options], {
    env,
  })
  const { code, stdout, stderr } = await ran.then(
    (output) => ({ code: 0, ...output }),
    (failed: { code: number; stdout: string; stderr: string }) => failed,
  )
  server.closeAllConnections()
  server.close()
  return { code, stdout: stdout.replace(String(port), 'PORT'), stderr }
}

const json =
  (body: object): Answer =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** What the registry knows of a package: the range of an advisory is held against its versions. */
const known = (url = '') => {
  const name = decodeURIComponent(url.slice(1))
  const version = '1.5.0'
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { name, version } } }
}

const advisory = (severity: string) => ({
  valibot: [
    {
      // npm remembers an advisory by its id.
      id: severity.length,
      url: 'https://example.com/1',
      title: 'An example',
      severity,
      vulnerable_versions: '<=99.0.0',
    },
  ],
})

describe('a registry that gives no advisories', () => {
  const silent = (status: number) => (response: ServerResponse) => response.writeHead(status).end()

  test.each([404, 405])('answers %i: not checked, exit 1', async (status) => {
    const { code, stdout, stderr } = await audited(silent(status))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      new RegExp(`^audit: not checked, 127.0.0.1:[0-9]+ provides no advisories \\(${status}\\); `),
    )
  })

  test('with --allow-unchecked: the same line, exit 0', async () => {
    expect(await audited(silent(404), '--allow-unchecked')).toEqual({
      code: 0,
      stdout: 'audit: not checked, 127.0.0.1:PORT provides no advisories (404)\n',
      stderr: '',
    })
  })
})

test('nothing known, or nothing that is high: exit 0', async () => {
  for (const found of [{}, advisory('moderate')]) {
    expect(await audited(json(found))).toEqual({
      code: 0,
      stdout: 'audit: no high or critical advisories for deployed packages\n',
      stderr: '',
    })
  }
})

test('a high one: which, and exit 1', async () => {
  const { code, stdout, stderr } = await audited(json(advisory('high')))
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^valibot .*: high, /m)
})
