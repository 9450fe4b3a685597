import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runScript } from '../support/commands.ts'
import { whileListening } from '../support/servers.ts'

type Respond = (response: ServerResponse) => unknown

const cache = mkdtempSync(join(tmpdir(), 'audit-'))
afterAll(() => rmSync(cache, { recursive: true, force: true }))

/** Runs the command against a registry with the given response to the audit. */
const audit = async (respond: Respond, ...options: string[]) => {
  const server = createServer((request, response) => {
    const isAudit = request.url?.startsWith('/-/npm/v1/security/advisories')
    request.resume().on('end', () => (isAudit ? respond : json(packument(request.url)))(response))
  })
  return whileListening(server, async (port) => {
    const registry = `http://127.0.0.1:${port}`
    const env = { ...process.env, npm_config_registry: registry, npm_config_cache: cache }
    return runScript(['cli/audit.ts', ...options], env)
  })
}

const json =
  (body: object): Respond =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** Returns a package document; npm checks the range of an advisory against its versions. */
const packument = (url = '') => {
  const name = decodeURIComponent(url.slice(1))
  const version = '1.5.0'
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { name, version } } }
}

const advisory = (severity: string) => ({
  valibot: [
    {
      // npm caches advisories by id.
      id: severity.length,
      url: 'https://example.com/1',
      title: 'An example',
      severity,
      vulnerable_versions: '<=99.0.0',
    },
  ],
})

test.each([
  ['--allow-unchecked', 0],
  ['', 1],
])('a registry without advisories lets the command with %j exit with %i', async (option, code) => {
  const noReport = (status: number) => (response: ServerResponse) =>
    response.writeHead(status).end()
  for (const status of [404, 405]) {
    const result = await audit(noReport(status), ...(option ? [option] : []))
    expect(result.code).toBe(code)
    expect(code === 0 ? result.stdout : result.stderr).toMatch(
      new RegExp(`^audit: not checked, 127.0.0.1:\\S+ provides no advisories \\(${status}\\)`),
    )
    expect(code === 0 ? result.stderr : result.stdout).toBe('')
  }
})

test('the command exits with 0 without high or critical advisories', async () => {
  for (const advisories of [{}, advisory('moderate')]) {
    expect(await audit(json(advisories))).toEqual({
      code: 0,
      stdout: 'audit: no high or critical advisories for deployed packages\n',
      stderr: '',
    })
  }
})

test('the command prints a high advisory and exits with 1', async () => {
  const { code, stdout, stderr } = await audit(json(advisory('high')))
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^valibot .*: high, /m)
})
