import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { DAY_MS, dayAfter, dayOf } from '../../shared/domain/time.ts'
import { eventually } from '../support/eventually.ts'
import { type Shown, useService } from '../support/running-service.ts'
import { legibilityFindings } from './browser.ts'
import {
  call,
  changeList,
  changeReply,
  failCalls,
  fill,
  reloadWith,
  rowsOf,
  submit,
  useConsole,
} from './console.ts'

/** The console's batches, payouts and ledger, in Chromium. Later tests need the batches of earlier ones. */

const service = useService()
const { openScreen, expectProblem } = useConsole(service)

const complete = async (): Promise<string> => (await service.chargeCompleted()).reference

const play = async (scenario: string): Promise<Shown> => {
  const address = `${service.sandbox().address}/sandbox/scenarios/${scenario}`
  const { data } = (await (await fetch(address, { method: 'POST' })).json()) as Shown
  return data
}

const downloadFrom = async (page: Page, button: string) => {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ])
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') }
}

const SHOWN_PAYEE = '"provider","verb":"show"'
const SENT = 'demo: the account of the sent payout'

let references: string[] = []

test('the screen without batches says how to settle', async () => {
  const page = await openScreen('settlement')
  await page.getByText('No batches yet').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
})

test('the screen builds the batches of a day, and pays one after a dialog with amount and account', async () => {
  references = [await complete(), await complete()]
  const page = await openScreen('settlement')
  await page.getByRole('button', { name: 'Run a day' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('This run pays no batch').waitFor()
  await dialog.getByRole('button', { name: 'Run a day' }).click()
  await page.getByText('Built: 1. Paid: 0.').waitFor()
  const row = rowsOf(page, /^Batches of /).filter({ hasText: 'demo' })
  await row.getByText('pending').waitFor()
  await row.getByText('197.00').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Run a day' }).click()
  await dialog.getByText('This run pays no batch').waitFor()
  await dialog.getByLabel('Date').fill('2099-01-01')
  await dialog.getByText('at most 197.00 GHS').waitFor()
  await dialog.getByLabel('Provider').selectOption('other')
  await dialog.getByText('This run pays no batch').waitFor()
  await dialog.getByLabel('Provider').selectOption('demo')
  await dialog.getByText('at most 197.00 GHS').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await page.keyboard.press('Escape')
  await row.getByRole('link').first().click()
  const account = page.getByRole('main').getByText('Demo Payments Ltd, GCB 1041009001')
  await account.waitFor()
  await page.getByRole('button', { name: 'Pay now' }).click()
  await dialog.getByText('197.00 GHS').waitFor()
  await dialog.getByText('demo: Demo Payments Ltd, GCB 1041009001').waitFor()
  await dialog.getByRole('button', { name: 'Pay now' }).click()
  await page.getByText('The payout is sent').waitFor()
  await page.getByText('completed', { exact: true }).waitFor()
  const payNow = page.getByRole('button', { name: 'Pay now' })
  await eventually(async () => expect(await payNow.count()).toBe(0))
  expect(await account.count()).toBe(0)
})

test('the screen shows the lines of a batch and downloads them as CSV', async () => {
  const [{ id }] = await service.call('settlement', 'list')
  const page = await openScreen(`batch/${id}`)
  for (const reference of references) {
    await rowsOf(page, 'Lines').filter({ hasText: reference }).getByText('98.50').waitFor()
  }
  expect(await legibilityFindings(page)).toEqual([])
  const { name, text } = await downloadFrom(page, 'Download CSV')
  expect(name).toBe(`${id}.csv`)
  await page.goto(`${service.sandbox().address}/console#/debit/${references[0]}`)
  for (const name of [id, 'demo', 'GCB']) {
    await page.locator('dd').getByRole('link', { name }).waitFor()
  }
  await reloadWith(page, { nouns: ['debit'] })
  await page.locator('dd', { hasText: id }).waitFor()
  expect(await page.locator('dd').getByRole('link').count()).toBe(0)
  expect(text).toMatch(/^type,reference,(?:.*\r\n){3}total,,,,,200\.00,3\.00,197\.00,GHS\r\n$/)
})

test('the screen reads the offsets of a batch from its day backwards', async () => {
  const [{ id, provider, date }] = await service.call('settlement', 'list')
  const page = await openScreen('settlement')
  const list = '"settlement","verb":"list","options":{"provider"'
  const [request] = await Promise.all([
    page.waitForRequest((sent) => sent.postData()?.includes(list) === true),
    page.goto(`${service.sandbox().address}/console#/batch/${id}`),
  ])
  expect(request.postDataJSON().options).toMatchObject({ provider, to: date })
})

test('the screen shows why a payout failed, and the lines once the report is written; a retry asks for a confirmation', async () => {
  const { batch } = await play('payout-rejected')
  const page = await openScreen('settlement')
  const restore = await failCalls(page, '"settlement","verb":"report"', 422)
  await page.goto(`${service.sandbox().address}/console#/batch/${batch.id}`)
  await page.getByText(batch.failure).waitFor()
  await page.getByText('The batch is being built').waitFor()
  await page.getByText('Retry pays to').waitFor()
  await page.getByRole('button', { name: 'Retry payout' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`${batch.net} GHS`).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect((await service.call('settlement', 'show', { batch: batch.id })).status).toBe('failed')
  restore()
  await page.getByRole('button', { name: 'Record payout' }).click()
  await dialog.getByText(`${batch.net} GHS`).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await call(page, 'Record payout', {
    'Bank (optional)': 'none',
    'Bank reference': 'PAID-1',
    Reason: 'Telephone',
  })
  await page.getByText('PAID-1', { exact: true }).waitFor()
  await rowsOf(page, 'Lines').first().waitFor()
  expectProblem(/status of 422/)
})

test.each([
  ['process', { status: 'pending', net: null }, 'The batch is being built'],
  ['process', { status: 'pending', net: '-49.25' }, 'No money moves.'],
  ['complete', { status: 'completed' }, 'No money moves.'],
  ['process', { status: 'processing', paid: '40.00' }, '40.00 GHS', SENT],
  ['complete', { status: 'failed', paid: '40.00' }, '40.00 GHS', SENT],
  ['retry', { status: 'failed', paid: '40.00' }, '197.00 GHS', 'demo: Demo Payments Ltd, GCB'],
])(
  'the dialog of settlement %s for a batch with %o says what is paid, and to whom',
  async (...row) => {
    const [verb, members, ...texts] = row
    const [{ id }] = await service.call('settlement', 'list', { status: 'completed' })
    const page = await openScreen(`calls?find=settlement+${verb}`)
    await changeReply(
      page,
      '/console/operator',
      { net: '197.00', ...members },
      '"settlement","verb":"show"',
    )
    await rowsOf(page, 'Calls').getByRole('button', { name: 'Call' }).click()
    await fill(page, { Batch: id })
    const dialog = page.getByRole('dialog')
    for (const text of texts) await dialog.getByText(text).waitFor()
    if (texts.length === 1) expect(await dialog.getByText(/\d GHS/).count()).toBe(0)
  },
)

test('a day says when its sums are of a part of its batches', async () => {
  const partial = 'The figures are of the batches below; the day may have more.'
  const page = await openScreen('settlement')
  await rowsOf(page, /^Batches of /)
    .first()
    .waitFor()
  expect(await page.getByText(partial).count()).toBe(0)
  for (const path of ['settlement?limit=1', 'settlement?provider=demo']) {
    const cut = await openScreen(path)
    await cut.getByText(partial).first().waitFor()
  }
})

test('a batch of a net below zero waits, and not one of zero; the filters name batches by status', async () => {
  const { batch } = await play('negative-batch')
  const page = await openScreen('settlement?status=pending')
  const row = rowsOf(page, /^Batches of /).filter({ hasText: batch.id })
  await row.getByText('waits for later batches').waitFor()
  await page.getByLabel('Status').selectOption('processing')
  await page.getByText('No batch matches these filters').waitFor()
  for (const [net, waiting] of [
    ['-0.01', 1],
    ['0.00', 0],
  ] as const) {
    const single = await openScreen(`batch/${batch.id}`)
    await changeReply(single, '/console/operator', { net }, '"settlement","verb":"show"')
    await changeReply(single, '/console/operator', { status: 'suspended' }, SHOWN_PAYEE)
    await Promise.all([
      single.waitForResponse((one) => one.request().postData()?.includes(SHOWN_PAYEE) === true),
      single.reload(),
    ])
    await single.getByText(`${net} GHS`, { exact: true }).waitFor()
    expect(await single.getByText(/^held: |^Pays to$/).count()).toBe(0)
    expect(await single.getByText('waits for later batches').count()).toBe(waiting)
  }
})

test('the closing shows open points, payouts by day, and holidays that are added and removed', async () => {
  const batches: Shown[] = await service.call('settlement', 'list', { status: 'pending' })
  const { date } = batches[0]
  const page = await openScreen(`closing?date=${date}`)
  await page.getByText(/^Open points: \d+$/).waitFor()
  await rowsOf(page, 'Open points').first().waitFor()
  const payable = batches.filter(({ net }) => Number(net) > 0)
  const days = new Set(payable.map(({ payable_on }) => payable_on)).size
  await eventually(async () => expect(await rowsOf(page, 'Payouts by day').count()).toBe(days))
  const christmas = { Date: `${date.slice(0, 4)}-12-25`, Name: 'Christmas Day' }
  await call(page, 'Add a holiday', christmas)
  const holiday = rowsOf(page, 'Holidays').filter({ hasText: 'Christmas Day' })
  await holiday.waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await call(holiday, 'Remove')
  await page.getByText('No holidays').waitFor()
  await changeList(page, 'settlement', { next_cursor: 'LATER' })
  const ages = { 0: '0.00', 1: '0.00', 2: '8.00', more: '1000.00' }
  const owing = [{ provider: 'demo', balance: '-1008.00', ages }]
  const point = { check: 'batches', reason: 'failed', command: 'operator settlement retry' }
  const open = batches.map(({ id: subject }) => ({ ...point, subject }))
  const banks = [{ bank: 'GCB', receivable: '8.00', ages: { ...ages, more: '0.00' } }]
  const day = { open, owing, banks }
  await changeReply(page, '/console/operator', day, '"day","verb":"close"')
  await page.reload()
  await rowsOf(page, 'Open points').first().getByRole('link', { name: /^STL-/ }).waitFor()
  const debt = rowsOf(page, 'Providers that owe money').getByRole('cell').last()
  expect(await debt.innerText()).toBe('-1,008.00\n8.00 2 days old\n1,000.00 older')
  const receivable = rowsOf(page, 'Banks of the day').locator('[data-title="Receivable"]')
  expect(await receivable.innerText()).toBe('8.00\n8.00 2 days old')
  await page.getByText(/^Batches before the newest \d+ are not counted\.$/).waitFor()
})

test('an unknown batch is refused', async () => {
  const page = await openScreen('batch/STL-20260101-ABC123')
  await page.getByRole('alert').getByText('5404').waitFor()
  expectProblem(/status of 422/)
})

describe('ledger', () => {
  beforeAll(complete)

  test('the screen shows balances and entries of today, and downloads the journal', async () => {
    const page = await openScreen('ledger')
    await rowsOf(page, 'Balances').filter({ hasText: 'Owed by GCB' }).waitFor()
    await page.getByText('Debits equal credits').waitFor()
    const entry = rowsOf(page, 'Journal')
      .filter({ hasText: 'The bank debited the customer' })
      .first()
    await entry.getByRole('link').waitFor()
    expect(await legibilityFindings(page)).toEqual([])
    const { text } = await downloadFrom(page, 'Download CSV')
    expect(text).toMatch(/^entry,time,type,/)
  })

  test('a typed day is read once, after a pause in typing and with a complete year', async () => {
    const page = await openScreen('ledger?date=2020-01-01')
    await page.getByText('No account has a balance').waitFor()
    const read: string[] = []
    page.on('request', (request) => {
      const { noun, options } = request.postDataJSON() ?? {}
      if (noun === 'ledger') read.push(options.date)
    })
    await page.clock.install()
    await page.getByLabel('Day').focus()
    await page.clock.pauseAt(Date.now() + DAY_MS)
    await page.keyboard.type('11300202')
    await page.clock.runFor(1_000)
    await page.locator('input:invalid').waitFor()
    expect(read).toEqual([])
    await page.keyboard.type('6')
    await page.clock.runFor(1_000)
    await page.getByRole('heading', { name: 'Balances of 30 Nov 2026' }).waitFor()
    expect(read).toEqual(['2026-11-30'])
    // A link without the day, before the control forgets the typed text.
    await page.evaluate(`location.replace('#/ledger')`)
    await page.clock.runFor(1_000)
    expect(page.url()).toMatch(/#\/ledger$/)
  })

  test('an operator records a remittance; a day before all entries is empty', async () => {
    const page = await openScreen('ledger?date=2020-01-01')
    await page.getByText('No account has a balance').waitFor()
    await page.getByText('No remittances yet').waitFor()
    await page.getByRole('button', { name: 'Record a remittance' }).click()
    const dialog = page.getByRole('dialog')
    const bank = dialog.getByRole('combobox', { name: 'Bank', exact: true })
    await bank.getByRole('option', { name: 'Ecobank' }).waitFor({ state: 'attached' })
    expect(await bank.inputValue()).toBe('')
    await bank.selectOption('ECO')
    await dialog.getByText('funding record --bank ECO').waitFor()
    await submit(page, 'Record a remittance', { Amount: '5000', Reference: 'RMT-1' })
    await dialog.getByRole('alert').getByText('must be an amount like 500.00').waitFor()
    expectProblem(/status of 422/)
    await submit(page, 'Record a remittance', { Amount: '5000.00' })
    await rowsOf(page, 'Remittances').filter({ hasText: 'RMT-1' }).getByText('5,000.00').waitFor()
    expect(await legibilityFindings(page)).toEqual([])
    await reloadWith(page, { nouns: ['funding', 'ledger'] })
    const typed = { Bank: 'ECO', Amount: '7.00', Reference: 'RMT-2' }
    await call(page, 'Record a remittance', typed)
    await rowsOf(page, 'Remittances').filter({ hasText: 'RMT-2' }).waitFor()
    await dialog.waitFor({ state: 'hidden' })
    const filter = page.locator('.filters').getByRole('textbox', { name: 'Bank', exact: true })
    await filter.fill('EO')
    await filter.press('ArrowLeft')
    await filter.press('C')
    await page.waitForURL(/bank=ECO/)
    await rowsOf(page, 'Remittances').filter({ hasText: 'RMT-2' }).getByText('7.00').waitFor()
    expect(await page.evaluate('document.activeElement.selectionStart')).toBe(2)
  })
})

test('a payout that is held is overdue after its day, not on it', async () => {
  const { clock } = service.sandbox().control
  await complete()
  await service.call('settlement', 'run', { date: dayAfter(dayOf(clock.now())) })
  await service.call('provider', 'disable', { provider: 'demo' })
  const batches: Shown[] = await service.call('settlement', 'list', { status: 'pending' })
  const days = batches.flatMap(({ net, payable_on }) => (Number(net) > 0 ? [payable_on] : []))
  const [day] = days.toSorted()
  await clock.moveTo(new Date(`${day}T12:00:00Z`))
  const page = await openScreen('now')
  const row = rowsOf(page, 'Open matters').filter({ hasText: 'Overdue payouts' })
  await row.getByText('0', { exact: true }).waitFor()
  await clock.advance(DAY_MS)
  await row.getByText(String(days.filter((one) => one === day).length), { exact: true }).waitFor()
  await row.locator(`time[datetime="${day}T00:00:00Z"]`).waitFor()
  const held = batches.find(({ payable_on }) => payable_on === day)
  await page.goto(`${service.sandbox().address}/console#/batch/${held?.id}`)
  const isDisabled = page.getByText('held: demo is disabled')
  await isDisabled.waitFor()
  await service.call('restore', 'begin', { generation: '2' })
  await page.getByText('held by a restore').waitFor()
  await service.call('restore', 'release')
  await isDisabled.waitFor()
  await page.goto(`${service.sandbox().address}/console#/settlement`)
  await page.getByRole('button', { name: 'Run a day' }).click()
  await page.getByRole('dialog').getByText('This run pays no batch').waitFor()
  await page.keyboard.press('Escape')
  await page.goto(`${service.sandbox().address}/console#/batch/${held?.id}`)
  await service.call('provider', 'enable', { provider: 'demo' })
  await isDisabled.waitFor({ state: 'detached' })
  const payouts_held_until = '2099-01-01T00:00:00.000Z'
  await changeReply(page, '/console/operator', { payouts_held_until }, SHOWN_PAYEE)
  await page.reload()
  await page.getByText('held until 1 Jan 2099').waitFor()
})
