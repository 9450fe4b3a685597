import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Metafile } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  buildBundles,
  bundleFile,
  everyFunction,
  lean,
  opensRequestSecrets,
  sealingFile,
} from '../../infra/bundles/build.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import { useReceiver } from '../support/receiver.ts'
import { sampleEvent, useService } from '../support/running-service.ts'
import { sampleReplies } from '../support/sample-replies.ts'

/**
 * The very files that are deployed, each in a Node of its own: what was cut from the packages must
 * be what nobody comes to.
 */

const run = promisify(execFile)
const service = useService()
const receiver = useReceiver()

/** Rooms that speak to others, beside the functions: a sample does not take them everywhere. */
const rooms = {
  request: 'shared/banks/request.ts',
  bucket: 'shared/settlement/report/bucket.ts',
  schedule: 'shared/queues/schedule.ts',
}

let folder = ''
let metafile: Metafile
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bundles-'))
  metafile = await buildBundles({ ...everyFunction, ...rooms }, lean, folder)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** As Lambda does: a fresh process, the module, its handler, an event. */
const invoke = async (name: string, event: unknown): Promise<unknown> => {
  const script = `const { handler } = await import(${JSON.stringify(pathToFileURL(bundleFile(name, folder)).href)})
    const context = { functionName: 'it', getRemainingTimeInMillis: () => 20_000 }
    console.log(JSON.stringify((await handler(${JSON.stringify(event)}, context)) ?? null))
    process.exit()`
  const env = {
    ...process.env,
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_SESSION_TOKEN: 'of a role',
  }
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env })
  return JSON.parse(stdout)
}

const load = (room: keyof typeof rooms) => import(pathToFileURL(bundleFile(room, folder)).href)

// Room after room: a sample of an operator changes what those before it have met.
describe.each(['provider', 'bank', 'gateway', 'operator', 'jobs'])('functions/%s', (room) => {
  const names = functionRows
    .filter(({ entry }) => entry.startsWith(`functions/${room}/`))
    .map(({ name }) => name)

  test.concurrent.each(names)('%s answers its sample', async (name) => {
    expect(await invoke(name, await sampleEvent(name))).toMatchObject(sampleReplies[name] ?? {})
  })
})

describe('what reaches others', () => {
  test('a webhook is sent, by the client for one socket', async () => {
    await service.operate('webhook', 'set', { provider: 'demo', url: receiver.url('/bundled') })
    expect(await invoke('test-webhook', await sampleEvent('test-webhook'))).toMatchObject({
      statusCode: 200,
    })
    expect(receiver.received.map(({ path }) => path)).toContain('/bundled')
  })

  test('a signed request is verified, with the file for the sealing key', async () => {
    const event = await sampleEvent('get-bank')
    const timestamp = String(Math.floor(Date.now() / 1000))
    const text = `GET${event.path}${timestamp}`
    const headers = (secret: string) => ({
      Authorization: 'Bearer sk_sandbox_signed',
      'X-Timestamp': timestamp,
      'X-Signature': createHmac('sha256', secret).update(text).digest('hex'),
    })
    const reply = (secret: string) =>
      invoke('get-bank', { ...event, headers: headers(secret), multiValueHeaders: null })
    expect(await reply('rs_sandbox_signed')).toMatchObject({ statusCode: 200 })
    expect(await reply('rs_sandbox_other')).toMatchObject({ statusCode: 401 })
  })

  test('a bank is asked, by the agent', async () => {
    const { sendBankRequest } = await load('request')
    const question = { method: 'POST', body: '{"a":1}', secret: 'x', timeoutSeconds: 5 }
    const answer = await sendBankRequest({
      ...question,
      url: receiver.url('/bank?a=1'),
      at: new Date(),
    })
    expect(answer.status).toBe(204)
    expect(receiver.received.at(-1)).toMatchObject({ path: '/bank?a=1', raw: '{"a":1}' })
  })

  test('a report is written to S3, and read again', async () => {
    const { writeReport, readReport } = await load('bucket')
    const batch = { id: 'STL-20261122-ABCDEF', provider: 'demo' }
    const text = (async function* () {
      yield '{"lines":'
      yield '[]}'
    })()
    await writeReport(batch, 'json', text)
    expect(await readReport(batch, 'json')).toEqual({ text: '{"lines":[]}' })
    expect(await readReport({ ...batch, id: 'STL-20261122-NOWHERE' }, 'json')).toBeUndefined()
  })

  test('a schedule is made, once', async () => {
    const { scheduleExpiry } = await load('schedule')
    const at = new Date(Date.now() + 3_600_000)
    await scheduleExpiry('bundled', at, { reference: 'DCS-20261121-ABC123' })
    await scheduleExpiry('bundled', at, { reference: 'DCS-20261121-ABC123' })
    expect(service.sandbox().schedules()).toContain('bundled')
  })
})

describe('the files', () => {
  test('hold nothing of what no function comes to', () => {
    const held = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs))
    const strangers =
      /credential-provider-(?!node|env)|token-providers|nested-clients|event-streams\/EventStream|mnemonist|undici\/lib\/(?:cache|interceptor|mock)\//
    expect(held.filter((file) => strangers.test(file))).toEqual([])
    expect(held.some((file) => file.includes('undici/lib/dispatcher/client.js'))).toBe(true)
  })

  test("ask for Node's own modules by call, never by import", async () => {
    for (const name of Object.keys(everyFunction)) {
      const text = await readFile(bundleFile(name, folder), 'utf8')
      expect(text.match(/(?:^|[;}])import[^(]{0,200}from"/), name).toBeNull()
      expect(text, name).toContain('process.getBuiltinModule("node:')
    }
  })

  test('are the same bytes, however often they are built', async () => {
    const again = join(folder, 'again')
    await buildBundles({ charge: everyFunction.charge ?? '' }, lean, again)
    const bytes = await Promise.all(
      [folder, again].map((place) => readFile(bundleFile('charge', place))),
    )
    expect(bytes[0]?.equals(bytes[1] ?? Buffer.alloc(0))).toBe(true)
  })

  test('hold the client for the sealing key apart where only some callers need it', async () => {
    for (const { name, permissions } of functionRows) {
      const text = await readFile(bundleFile(name, folder), 'utf8')
      const isLoaded = permissions.sealingKey && text.includes('"./sealing.mjs"')
      expect(isLoaded === true, name).toBe(opensRequestSecrets.has(name))
      const sizes = await stat(sealingFile(name, folder)).catch(() => undefined)
      expect(sizes !== undefined, name).toBe(opensRequestSecrets.has(name))
    }
    expect(await readFile(bundleFile('charge', folder), 'utf8')).not.toContain('secretsmanager')
  })

  test('stay small: a charge within 265 kB', async () => {
    expect((await stat(bundleFile('charge', folder))).size).toBeLessThan(265_000)
  })
})
