import { afterAll, expect, test } from 'vitest'
import { printedBy, runScript, useCommands } from '../support/commands.ts'
import { startSandbox } from './smoke/running-sandbox.ts'
import { healthy, startStageEndpoint } from './smoke/stage-endpoint.ts'

/** The command `console` in a process, with a stage whose functions are those of a sandbox. */

const start = useCommands()
const WORDS = ['commands/console.ts', '--stage', 'sandbox', '--port', '0']

const sandbox = await startSandbox()
const stage = await startStageEndpoint(sandbox.address, healthy)
afterAll(async () => {
  await stage.stop()
  await sandbox.stop()
})

const started = () => printedBy(start(WORDS, stage.env), /^ready (http:\S+)\/console$/m)

test('the console invokes the functions of the stage with the caller of the credentials', async () => {
  const address = await started()
  const settings = await (await fetch(`${address}/console/settings`)).json()
  expect(settings).toMatchObject({
    data: { stage: 'sandbox', operator: 'arn:aws:iam::000000000000:user/ama', is_live: false },
  })
  const call = { noun: 'provider', verb: 'update', options: { provider: 'demo', name: 'New' } }
  const body = JSON.stringify({ ...call, operator: 'kofi' })
  await fetch(`${address}/console/operator`, { method: 'POST', body })
  const words = ['change', 'list', '--provider', 'demo', '--limit', '1']
  expect(await sandbox.operator(...words)).toMatchObject([
    { by: 'arn:aws:iam::000000000000:user/ama' },
  ])
})

test('the console serves the page, and nothing else', async () => {
  const address = await started()
  expect((await fetch(`${address}/`)).url).toBe(`${address}/console`)
  expect((await fetch(`${address}/console/page.js`)).status).toBe(200)
  for (const path of ['/console/live', '/openapi.json', '/package.json']) {
    expect((await fetch(`${address}${path}`)).status, path).toBe(404)
  }
})

test('the console replies to a request above 10 MB with 413', async () => {
  const request = { method: 'POST', body: Buffer.alloc(11 * 1024 * 1024) }
  expect((await fetch(`${await started()}/console/operator`, request)).status).toBe(413)
})

test.each([
  ['Origin', 'https://example.com'],
  ['Origin', 'http://127.0.0.1:1'],
])('the console rejects a call with the header %s %s', async (name, value) => {
  const address = await started()
  const reply = await fetch(`${address}/console/operator`, {
    method: 'POST',
    headers: { [name]: value },
    body: JSON.stringify({ noun: 'provider', verb: 'list' }),
  })
  expect(reply.status).toBe(403)
})

test('the command prints one line without AWS credentials', async () => {
  const env = { PATH: process.env.PATH, AWS_REGION: 'eu-west-1', AWS_EC2_METADATA_DISABLED: 'true' }
  const { code, stderr } = await runScript(WORDS, env)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^No AWS credentials: .*\n$/),
  })
})

test('the command prints one line if the credentials allow no operator function', async () => {
  const { nouns } = await import('../../shared/operator/catalogue.ts')
  const denied = Object.keys(nouns).map((noun) => `manage-${noun}`)
  const denying = await startStageEndpoint(sandbox.address, { ...healthy, denied })
  const { code, stderr } = await runScript(WORDS, denying.env)
  await denying.stop()
  const line = 'These AWS credentials allow no operator function of sandbox\n'
  expect({ code, stderr }).toEqual({ code: 1, stderr: line })
})

test('the command prints one line if the port is taken', async () => {
  const words = ['commands/console.ts', '--stage', 'sandbox', '--port', sandbox.port]
  const { code, stderr } = await runScript(words, stage.env)
  const line = `Port ${sandbox.port} is taken; choose another with --port\n`
  expect({ code, stderr }).toEqual({ code: 1, stderr: line })
})
