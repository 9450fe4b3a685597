import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { freePort } from '../../sandbox/local-server.ts'
import { nodePaths, printedBy, runScript, useCommands } from '../support/commands.ts'
import { eventually } from '../support/eventually.ts'
import { newFolder } from '../support/folders.ts'
import { type Reply, useService } from '../support/running-service.ts'
import { whileListening } from '../support/servers.ts'

/** The package of `npm pack`, the code of its README, and the example shop. */

const service = useService({ timeScale: 60 })
const start = useCommands()

const folder = newFolder()
beforeAll(() => {
  const words = ['pack', '--silent', '--pack-destination', folder]
  const tarball = execFileSync('npm', words, { cwd: 'sdk/typescript', encoding: 'utf8' }).trim()
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  execFileSync('npm', ['install', '--offline', '--silent', join(folder, tarball)], { cwd: folder })
})

/** Returns a block of code from the README or another page. */
const block = (heading: string, page = 'sdk/typescript/README.md'): string => {
  const text = readFileSync(page, 'utf8')
  const [, code] = /```js\n(.*?)```/s.exec(text.slice(text.indexOf(`\n## ${heading}\n`))) ?? []
  if (!code) throw new Error(`${page} has no code below ${heading}`)
  return code.replace('http://127.0.0.1:3000', service.sandbox().address)
}

const setWebhook = async (port: number): Promise<string> => {
  const options = { provider: 'demo', url: `http://127.0.0.1:${port}/webhooks` }
  await service.call('webhook', 'set', options)
  return (await service.call('webhook', 'rotate-secret', { provider: 'demo' })).secret
}

test.each(nodePaths)('the packed client makes the charge of its README on %s', async (node) => {
  const file = join(folder, 'charge.mjs')
  const own = block('First charge').replace("'order-1'", `'order-${Math.random()}'`)
  writeFileSync(file, own)
  const { printed, exited } = start([file], process.env, node)
  expect(await exited, printed.err).toBe(0)
  expect(printed.out).toMatch(/^DCS-\d{8}-[A-Z0-9]{6} completed\n$/)
})

test('the packed client reads with the code of its README', async () => {
  const file = join(folder, 'read.mjs')
  const [head] = block('First charge').split('const { reference }')
  writeFileSync(file, head + block('Read'))
  expect(await runScript([file])).toMatchObject({ code: 0, stderr: '' })
})

test('the packed client receives webhooks with the code of its README', async () => {
  const port = await freePort()
  const WEBHOOK_SECRET = await setWebhook(port)
  const file = join(folder, 'receive.mjs')
  const express = JSON.stringify(import.meta.resolve('express'))
  const code = block('Receive webhooks').replace("'express'", express).replace('8080', `${port}`)
  writeFileSync(file, code)
  const receiver = start([file], { ...process.env, WEBHOOK_SECRET })
  const partner_reference = `order-${Math.random()}`
  await service.charge({ partner_reference })
  expect(await printedBy(receiver, /^ship (\S+)$/m)).toBe(partner_reference)
})

test.each(nodePaths)('the packed client serves the documented bank on %s', async (node) => {
  const port = await freePort()
  const file = join(folder, 'bank.mjs')
  const page = block('Start with the kit', 'docs/bank-protocol.md')
  const serving = `${port}, '127.0.0.1', () => process.stdout.write('serves\\n')`
  writeFileSync(file, page.replace("8080, '127.0.0.1'", serving))
  const secret = 'cs_secret_of_the_bank'
  const bank = start([file], { ...process.env, CONNECTOR_SECRET: secret }, node)
  await printedBy(bank, /^(serves)$/m)
  const check = ['commands/bank-check.ts', `http://127.0.0.1:${port}`, '--secret', secret]
  const { code: exitCode, stdout } = await runScript(check)
  expect({ exitCode, failed: stdout.match(/^FAIL.*/gm) }).toEqual({ exitCode: 0, failed: null })
})

test('the packed client compiles in a strict project without types of Node', () => {
  const file = join(folder, 'consumer.ts')
  writeFileSync(
    file,
    `import { BankReports, bankServer, DebitCollection, webhooks } from 'debit-collection'
       const debits = new DebitCollection({ apiKey: 'k', baseUrl: 'http://127.0.0.1' })
       export const status: Promise<'pending' | 'processing' | 'completed' | 'failed' | 'reversed'> =
         debits.get('r').then((debit) => debit.status)
       // @ts-expect-error an amount is not a number
       void debits.charge({ phoneNumber: '', bankIdentifier: '', amount: 1, narration: '', partnerReference: '' })
       const reports = new BankReports({ apiKey: 'k', baseUrl: 'http://127.0.0.1' })
       export const reported: Promise<string> = reports
         .update('u', { status: 'completed', bankReference: 'B', fee: { pesewas: 150 } })
         .then(({ fee }) => fee ?? '')
       // @ts-expect-error only a callback reports an approval
       void reports.update('u', { status: 'approved', bankReference: 'B' })
       export const GET = webhooks.fetch({
         secrets: 's',
         store: webhooks.memoryStore(),
         on: { 'transaction.failed': ({ data }) => void data.transaction.error_message },
       })
       export const receiver = webhooks.express({ secrets: 's', store: webhooks.memoryStore(), on: {} })
       export const bank = bankServer({ secret: 's', onSubmission: () => ({ status: 'accepted', bankReference: 'B' }) })`,
  )
  const compilerOptions = {
    strict: true,
    noEmit: true,
    declaration: true,
    module: 'nodenext',
    types: [],
    lib: ['es2022', 'dom'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
  execFileSync('node_modules/.bin/tsc', ['-p', folder], { stdio: 'inherit' })
})

const startShop = async (port: number, BASE_URL: string, WEBHOOK_SECRET: string) => {
  const shop = start(['sdk/typescript/examples/shop.ts'], {
    ...process.env,
    API_KEY: 'sk_sandbox_demo',
    BASE_URL,
    WEBHOOK_SECRET,
    DATABASE: join(folder, `shop-${port}.db`),
    PORT: String(port),
  })
  const address = await printedBy(shop, /^shop (http:\S+)$/m)
  const send = async (method: string, path: string, body?: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
    const response = await fetch(address + path, init)
    const reply: Pick<Reply, 'status' | 'body'> = {
      status: response.status,
      body: await response.json().catch(() => undefined),
    }
    return reply
  }
  const order = (fields = {}) =>
    send('POST', '/orders', {
      phoneNumber: '+233241234567',
      bankIdentifier: 'GCB',
      amount: '25.00',
      ...fields,
    })
  return { send, order }
}

test('the example shop charges, ships by webhook, waits and reconciles', async () => {
  const port = await freePort()
  const secret = await setWebhook(port)
  const { send, order } = await startShop(port, service.sandbox().address, secret)
  expect(await order({ amount: '0.10' })).toEqual({
    status: 422,
    body: { id: expect.any(String), fields: { amount: expect.any(Array) } },
  })
  const failing = (await order({ phoneNumber: '+233209876543' })).body
  const { id, reference } = (await order()).body
  expect(reference).toMatch(/^DCS-/)
  expect((await send('GET', `/orders/${id}/outcome`)).body).toEqual({ id, status: 'completed' })
  await eventually(async () => {
    expect((await send('GET', `/orders/${id}`)).body.status).toBe('shipped')
    expect((await send('GET', `/orders/${failing.id}`)).body.status).toBe('failed')
  })
  // Until the batch of the day is paid.
  const move = { method: 'POST', body: '{"advance":"3d"}' }
  expect((await fetch(`${service.sandbox().address}/sandbox/clock`, move)).status).toBe(200)
  expect((await send('POST', '/reconciliation')).body).toEqual({
    matched: 1,
    unknown: expect.any(Array),
    differs: [],
  })
  expect((await send('GET', `/orders/${id}`)).body.batch).toMatch(/^STL-/)
})

const bankIsDown = JSON.stringify({
  success: false,
  error: { code: 2003, message: 'No connector available for bank' },
})

test.each([
  ['refuses no order after a reply that is not from the service', 404, '', 500],
  ['refuses an order at a bank that is down', 503, bankIsDown, 422],
])('the example shop %s', async (_, given, body, status) => {
  const headers = { 'retry-after': '30' }
  const server = createServer((_, response) => response.writeHead(given, headers).end(body))
  await whileListening(server, async (port) => {
    const { order } = await startShop(await freePort(), `http://127.0.0.1:${port}`, 'whsec_AAAA')
    expect(await order()).toMatchObject({ status })
  })
})
