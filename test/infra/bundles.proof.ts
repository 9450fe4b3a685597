import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Metafile } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  buildBundles,
  bundleFile,
  everyFunction,
  opensRequestSecrets,
  sealingFile,
} from '../../infra/bundles/build.ts'
import { functionRows } from '../../infra/definitions/functions.ts'
import { runScript } from '../support/commands.ts'
import { useReceiver } from '../support/receiver.ts'
import { sampleEvent, sign } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'
import { sampleReply } from '../support/sample-replies.ts'
import { listen } from '../support/servers.ts'

/** Runs each deployed file in its own process: no function may need code that the build removes. */

const service = useService({ emulated: true })
const receiver = useReceiver()

/** Modules that send requests; the samples do not cover all of their code. */
const modules = {
  request: 'shared/banks/request.ts',
  bucket: 'shared/settlement/report/bucket.ts',
  schedule: 'shared/queues/schedule.ts',
}

/** Scheduler and Secrets Manager, for functions in other processes. */
const created = new Set<string>()
const server = createServer(({ url = '' }, response) => {
  const name = /^\/schedules\/([^?]+)/.exec(url)?.[1]
  if (name && created.has(name)) {
    response.writeHead(409, { 'x-amzn-errortype': 'ConflictException' }).end('{"Message":"exists"}')
    return
  }
  if (name) created.add(name)
  response.end(
    JSON.stringify(name ? { ScheduleArn: name } : { ARN: 'key', SecretString: 'sandbox' }),
  )
})

let folder = ''
let metafile: Metafile
beforeAll(async () => {
  const endpoint = `http://127.0.0.1:${await listen(server)}`
  process.env.AWS_ENDPOINT_URL_SCHEDULER = endpoint
  process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = endpoint
  process.env.AWS_ENDPOINT_URL_LAMBDA = service.sandbox().address
  folder = await mkdtemp(join(tmpdir(), 'bundles-'))
  metafile = await buildBundles({ ...everyFunction, ...modules }, folder)
})
afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true, force: true })
})

/** Invokes a handler in a new process, as Lambda does. */
const invoke = async (name: string, event: unknown): Promise<unknown> => {
  const script = `const { handler } = await import(${JSON.stringify(urlOf(name))})
    const context = { functionName: 'it', getRemainingTimeInMillis: () => 20_000 }
    console.log(JSON.stringify((await handler(${JSON.stringify(event)}, context)) ?? null))
    process.exit()`
  const lambda = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x', AWS_LAMBDA_FUNCTION_NAME: name }
  const env = { ...process.env, ...lambda, AWS_SESSION_TOKEN: 'token' }
  const { stdout, stderr } = await runScript(['--input-type=module', '-e', script], env)
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

const urlOf = (name: string): string => pathToFileURL(bundleFile(name, folder)).href

// One folder after another: the samples of operators change the replies of others.
describe.each(['provider', 'bank', 'gateway', 'operator', 'jobs'])('functions/%s', (part) => {
  const rows = functionRows.filter(({ entry }) => entry.startsWith(`functions/${part}/`))

  test.concurrent.each(rows)('$name answers its sample', async ({ name }) => {
    expect(await invoke(name, await sampleEvent(name))).toMatchObject(sampleReply(name))
  })
})

describe('a bundle', () => {
  test('sends a webhook with the client for one socket', async () => {
    await service.operate('webhook', 'set', { provider: 'demo', url: receiver.url('/bundled') })
    const reply = await invoke('test-webhook', await sampleEvent('test-webhook'))
    expect(reply).toMatchObject({ statusCode: 200 })
    expect(receiver.received.map(({ path }) => path)).toContain('/bundled')
  })

  test('verifies a signed request with the file for the sealing key', async () => {
    const event = await sampleEvent('get-bank')
    const headers = (secret: string) => ({
      Authorization: 'Bearer sk_sandbox_signed',
      ...sign({ path: String(event.path), secret }),
    })
    const reply = (secret: string) =>
      invoke('get-bank', { ...event, headers: headers(secret), multiValueHeaders: null })
    expect(await reply('rs_sandbox_signed')).toMatchObject({ statusCode: 200 })
    expect(await reply('rs_sandbox_other')).toMatchObject({ statusCode: 401 })
  })

  test('sends a bank request with the agent', async () => {
    const { sendBankRequest } = await import(urlOf('request'))
    const content = { method: 'POST', body: '{"a":1}', secret: 'x', timeoutSeconds: 5 }
    const url = receiver.url('/bank?a=1')
    expect((await sendBankRequest({ ...content, url, at: new Date() })).status).toBe(204)
    expect(receiver.received.at(-1)).toMatchObject({ path: '/bank?a=1', raw: '{"a":1}' })
  })

  test('writes a report to S3 and reads it', async () => {
    const { writeReport, readReport } = await import(urlOf('bucket'))
    const batch = { id: 'STL-20261122-ABCDEF', provider: 'demo' }
    const text = (async function* () {
      yield '{"lines":'
      yield '[]}'
    })()
    await writeReport(batch, 'json', text)
    expect(await readReport(batch, 'json')).toEqual({ text: '{"lines":[]}' })
    expect(await readReport({ ...batch, id: 'STL-20261122-NOWHERE' }, 'json')).toBeUndefined()
  })

  test('creates a schedule once', async () => {
    const { scheduleExpiry } = await import(urlOf('schedule'))
    const at = new Date(Date.now() + 3_600_000)
    const message = { reference: 'DCS-20261121-ABC123' }
    for (const _ of [1, 2]) await scheduleExpiry('bundled', at, message)
    expect([...created]).toContain('bundled')
  })
})

describe('the files', () => {
  test('contain no module that the build removes', () => {
    const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs))
    const removed =
      /credential-provider-(?!node|env)|token-providers|nested-clients|event-streams\/EventStream|mnemonist|undici\/lib\/(?:cache|interceptor|mock)\//
    expect(inputs.filter((file) => removed.test(file))).toEqual([])
    expect(inputs.some((file) => file.includes('undici/lib/dispatcher/client.js'))).toBe(true)
  })

  test('contain a client for banks or receivers exactly if the function may call them', () => {
    const containing = (source: string): string[] =>
      functionRows
        .map(({ name }) => name)
        .filter((name) =>
          Object.entries(metafile.outputs).some(
            ([file, { inputs }]) =>
              file.endsWith(`/${name}/index.mjs`) &&
              Object.keys(inputs).some((input) => input.endsWith(source)),
          ),
        )
    const calling = (...peers: string[]): string[] =>
      functionRows
        .filter(({ permissions }) => permissions.calls?.some((peer) => peers.includes(peer)))
        .map(({ name }) => name)
    expect(containing('undici/lib/dispatcher/client.js')).toEqual(calling('banks', 'receivers'))
    expect(containing('shared/banks/request.ts')).toEqual(calling('banks'))
    expect(containing('shared/webhooks/http/connection.ts')).toEqual(calling('receivers'))
  })

  test("load Node's own modules by call, never by import", async () => {
    for (const name of Object.keys(everyFunction)) {
      const text = await readFile(bundleFile(name, folder), 'utf8')
      expect(text.match(/(?:^|[;}])import[^(]{0,200}from"/), name).toBeNull()
      expect(text, name).toContain('process.getBuiltinModule("node:')
    }
  })

  test('are the same bytes in each build: a charge within 265 kB', async () => {
    const again = join(folder, 'again')
    await buildBundles({ charge: everyFunction.charge ?? '' }, again)
    const files = [folder, again].map((path) => readFile(bundleFile('charge', path)))
    const [first, second] = await Promise.all(files)
    expect(first?.equals(second ?? Buffer.alloc(0))).toBe(true)
    expect(first?.length).toBeLessThan(265_000)
  })

  test('load the client for the sealing key from another file if only some callers need it', async () => {
    for (const { name, permissions } of functionRows) {
      const text = await readFile(bundleFile(name, folder), 'utf8')
      const isLoaded = permissions.sealingKey && text.includes('"./sealing.mjs"')
      expect(isLoaded === true, name).toBe(opensRequestSecrets.has(name))
      expect(existsSync(sealingFile(name, folder)), name).toBe(opensRequestSecrets.has(name))
    }
    expect(await readFile(bundleFile('charge', folder), 'utf8')).not.toContain('secretsmanager')
  })
})
