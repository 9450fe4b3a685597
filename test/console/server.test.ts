import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { consoleHandler } from '../../console/server/handler.ts'
import { close, listen } from '../../sandbox/local-server.ts'
import { eventually } from '../support/eventually.ts'
import { CHARGE, chargeBody } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'

/** The console over HTTP, in a sandbox. */

const service = useService()
const at = (path: string): string => `${service.sandbox().address}${path}`

const operate = async (body: unknown, headers: Record<string, string> = {}) => {
  const response = await fetch(at('/console/operator'), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Reply }
}

type Reply = {
  success: boolean
  data?: unknown
  error?: { message: string }
  meta?: { timestamp: string }
}

const paths = ['/console', '/console/page.js', '/console/page.css', '/console/icon.svg']

test.each([...paths, '/console/'])(
  'the path %s allows no inline or foreign content',
  async (path) => {
    const response = await fetch(at(path))
    expect(response.status).toBe(200)
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).not.toMatch(/unsafe|http|data:/)
    expect(await response.text()).not.toMatch(/ style="|<script>/)
  },
)

test('the page has less than 90 kB of gzipped files', async () => {
  const sizes = await Promise.all(
    paths.map(async (path) => gzipSync(await (await fetch(at(path))).text()).length),
  )
  expect(Math.min(...sizes)).toBeGreaterThan(100)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(90_000)
})

test('the page does not exist at other paths', async () => {
  for (const path of ['/console/page.ts', '/consoles']) {
    expect((await fetch(at(path))).status, path).toBe(404)
  }
})

test('a call returns the result of the operator function, and the time of the service', async () => {
  const call = { noun: 'bank', verb: 'show', options: { bank: 'GCB' } }
  const { status, body } = await operate(call)
  expect(status).toBe(200)
  expect(body).toMatchObject({ success: true, data: { identifier: 'GCB', status: 'live' } })
  expect(body.meta).toMatchObject({ timestamp: expect.stringMatching(/^\d{4}-/), frozen: false })
})

test('a call without options has none', async () => {
  expect((await operate({ noun: 'provider', verb: 'list' })).status).toBe(200)
})

test.each([
  [422, 'no such bank', { noun: 'bank', verb: 'show', options: { bank: 'XYZ' } }],
  [422, 'unknown verb', { noun: 'bank', verb: 'fly' }],
  [400, 'A call has noun', { noun: 'nothing', verb: 'show' }],
  [400, 'A call has noun', { noun: '__proto__', verb: 'show' }],
  [400, 'A call has noun', { noun: 'bank', verb: 'show', options: { bank: 1 } }],
  [400, 'A call has noun', '{"noun":'],
])('a refused call has the status %i and the reason “%s”', async (status, reason, call) => {
  const reply = await operate(call)
  expect(reply.status).toBe(status)
  expect(reply.body).toMatchObject({
    success: false,
    error: { message: expect.stringContaining(reason) },
  })
})

test('a call reconciles a day, and compares the bytes of a statement', async () => {
  const options = { date: '2026-11-21' }
  const run = await operate({ noun: 'reconciliation', verb: 'run', options })
  expect(run.body.data).toMatchObject({ ...options, differences: 0 })
  const compare = (statement: string, bank = 'GCB') =>
    operate({ noun: 'reconciliation', verb: 'statement', options: { ...options, bank, statement } })
  const header = 'bank_reference,amount,currency,completed_at'
  const rows = ['A-1,100.00,GHS,2026-11-21', 'A-2,50.00,GHS,2026-11-20']
  expect((await compare([header, ...rows].join('\n'))).body.data).toMatchObject({
    missing_here: { count: 1, sum: '100.00', examples: [{ line: 2, bank_reference: 'A-1' }] },
    ignored: 1,
  })
  const utf16 = Buffer.from(`\uFEFF${header}\nÉ-1,5.00,GHS,2026-11-21`, 'utf16le')
  expect((await compare(utf16.toString('latin1'))).body.data).toMatchObject({
    missing_here: { examples: [{ bank_reference: 'É-1' }] },
  })
  expect((await compare('amount')).body.error?.message).toContain('line 1: column currency')
  expect((await compare(header, 'XYZ')).body.error?.message).toBe('no such bank')
  expect((await compare(header, 'not a bank')).body.error?.message).toMatch(/^--bank: /)
})

test('a call imports the bytes of a file, and refuses those that are not UTF-8', async () => {
  const phone = '+233249000007'
  const importOf = (name: Buffer) => {
    const header = Buffer.from('phone,name,account_number,active\n')
    const row = [Buffer.from(`${phone},`), name, Buffer.from(',1041000007,true')]
    const file = Buffer.concat([header, ...row]).toString('latin1')
    return operate({ noun: 'customer', verb: 'import', options: { bank: 'GCB', file } })
  }
  const windows = await importOf(Buffer.from('Kofé', 'latin1'))
  expect(windows.body.error?.message).toBe('--file: the file is not UTF-8')
  expect((await importOf(Buffer.from('Kofé'))).body.data).toMatchObject({ added: 1 })
  const shown = await operate({ noun: 'customer', verb: 'show', options: { phone, bank: 'GCB' } })
  expect(JSON.stringify(shown.body.data)).toContain('Kofé')
})

test('a call is recorded with the operator that the page acts as', async () => {
  const call = { noun: 'provider', verb: 'update', options: { provider: 'demo', name: 'Demo' } }
  await operate({ ...call, operator: 'kofi' })
  expect(await service.changeOf('demo')).toMatchObject({ by: 'local:kofi', verb: 'update' })
})

test.each([
  ['of a foreign page', { Origin: 'https://example.com' }],
  ['of a page at another port', { Origin: 'http://127.0.0.1:1' }],
  ['of a foreign page without its origin', { 'Sec-Fetch-Site': 'cross-site' }],
  ['of a page at another port without its origin', { 'Sec-Fetch-Site': 'same-site' }],
])('a call and a read %s are refused', async (_, headers: Record<string, string>) => {
  const call = { noun: 'provider', verb: 'list' }
  expect((await operate(call, headers)).status).toBe(403)
  const read = async (sent: Record<string, string>) =>
    (await fetch(at('/console/settings'), { headers: sent })).status
  expect(await read(headers)).toBe(403)
  const own = { Origin: service.sandbox().address, 'Sec-Fetch-Site': 'same-origin' }
  expect((await operate(call, own)).status).toBe(200)
  expect(await read({ 'Sec-Fetch-Site': 'none' })).toBe(200)
})

test('the settings have the nouns and the published tokens of the sandbox', async () => {
  const { data } = (await (await fetch(at('/console/settings'))).json()) as Reply
  expect(data).toMatchObject({
    stage: null,
    operator: expect.stringMatching(/^local:/),
    nouns: expect.arrayContaining(['debit', 'approval']),
    is_live: true,
    seeds: {
      credentials: expect.arrayContaining([expect.objectContaining({ token: 'bt_sandbox_gcb' })]),
      customers: expect.arrayContaining([expect.objectContaining({ phone: '+233241234567' })]),
    },
  })
})

test('a stage whose credentials have expired replies with the reason, and has its own icon', async () => {
  const expired = () => Promise.reject(new Error('The AWS credentials have expired'))
  const serve = consoleHandler({
    stage: 'production',
    clock: { now: () => new Date(), isFrozen: () => false },
    caller: expired,
    operate: expired,
  })
  const target = { host: '127.0.0.1', body: Buffer.alloc(0) }
  const server = createServer((request, response) => {
    void serve({ ...target, pathname: request.url ?? '' }, request, response)
  })
  const stage = `http://127.0.0.1:${await listen(server)}`
  onTestFinished(() => close(server))
  const reply = await fetch(`${stage}/console/settings`)
  expect(reply.status).toBe(502)
  expect(await reply.json()).toMatchObject({
    error: { message: 'The AWS credentials have expired' },
  })
  const icons = [at('/console/icon.svg'), `${stage}/console/icon.svg`]
  const [own, other] = await Promise.all(icons.map(async (url) => (await fetch(url)).text()))
  expect(other).toContain('<svg')
  expect(own).not.toBe(other)
})

test('a request has the time of the service', async () => {
  const { clock } = service.sandbox().control
  await clock.advance(3 * 86_400_000)
  const { arrived, close } = await openStream()
  await fetch(at('/moved'))
  await eventually(() => expect(arrived.text).toContain('"target":"/moved"'))
  close()
  const [, , , text = ''] =
    /^(event: requests\n)?(.*\n)*event: request\ndata: (.*)$/m.exec(arrived.text) ?? []
  expect(Math.abs(Date.parse(JSON.parse(text).at) - clock.now().getTime())).toBeLessThan(60_000)
})

/** Opens the stream and returns the text that has arrived. */
const openStream = async () => {
  const abort = new AbortController()
  const response = await fetch(at('/console/live'), { signal: abort.signal })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const arrived = { text: '' }
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) {
      arrived.text += decoder.decode(bytes as Uint8Array, { stream: true })
    }
  }
  read().catch(() => undefined)
  return { arrived, close: () => abort.abort() }
}

test('the event stream has each request with its reply, without credentials, and each changed item', async () => {
  const { arrived, close } = await openStream()
  const body = chargeBody()
  const { body: reply } = await service.send('POST', CHARGE, {
    credential: 'sk_sandbox_demo',
    body,
  })
  const { reference } = reply.data
  await eventually(() => {
    expect(arrived.text).toContain(`"entity":"debit","pk":"DEBIT#${reference}"`)
    expect(arrived.text).toMatch(/^event: request$/m)
  })
  close()
  const [, text = ''] = /^event: request\ndata: (.*)$/m.exec(arrived.text) ?? []
  const request = JSON.parse(text)
  expect(request).toMatchObject({ method: 'POST', target: CHARGE, status: 202 })
  expect(JSON.parse(request.request.body)).toEqual(body)
  expect(request.reply.body).toContain(reference)
  expect(Object.fromEntries(request.request.headers).Authorization).toBe('Bearer ***')
  expect(arrived.text).not.toContain('sk_sandbox_demo')
})

test('the event stream begins with the last 1,000 requests', async () => {
  for (let batch = 0; batch < 20; batch += 1) {
    await Promise.all(
      Array.from({ length: 51 }, (_, index) =>
        fetch(at(`/unmatched-${batch}-${index}`)).then((response) => response.text()),
      ),
    )
  }
  const { arrived, close } = await openStream()
  await eventually(() => expect(arrived.text).toMatch(/^event: requests\ndata: .*\n\n/))
  close()
  const [, text = ''] = /^event: requests\ndata: (.*)$/m.exec(arrived.text) ?? []
  const requests = JSON.parse(text) as { id: number; target: string }[]
  expect(requests).toHaveLength(1_000)
  expect(requests.at(-1)?.target).toMatch(/^\/unmatched-19-/)
})
