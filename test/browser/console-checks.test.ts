import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import { findExceptions, putException } from '../../shared/store/debits/exceptions.ts'
import { SILENT } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'
import { legibilityFindings } from './browser.ts'
import { call, changeList, failCalls, reloadWith, rowsOf, useConsole } from './console.ts'

/** The console's exceptions, reconciliation and operator changes, in Chromium. */

const service = useService()
const { openScreen, expectProblem } = useConsole(service)

const COMPLETED = { status: 'completed', bank_reference: 'B-1' }
const FAILED = { status: 'failed', bank_reference: 'B-1', error_message: 'Insufficient funds' }

/** Charges a debit and makes its bank report twice; the second report is refused. */
const contradict = async (...reports: object[]): Promise<string> => {
  const { reference, uuid } = await service.charge({ phone_number: SILENT })
  for (const report of reports) await service.report(uuid, report)
  return reference
}

test('an exception appears live in the empty list, and a note resolves it', async () => {
  const page = await openScreen('exceptions')
  await page.getByText('No exceptions').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  const reference = await contradict(COMPLETED, FAILED)
  const row = rowsOf(page, 'Exceptions').filter({ hasText: reference })
  await row.getByText('Contradiction').waitFor()
  await row.getByText('Report of the bank').click()
  await row.getByText('Insufficient funds').waitFor()
  await row.getByText('The service replied 3001').waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await call(row, 'Resolve', { Resolution: 'The bank erred' })
  await row.getByText('The bank erred').waitFor()
  await page.getByLabel('Status').selectOption('open')
  await page.getByText('No exception matches these filters').waitFor()
})

test('a late completion is refunded after a dialog with amount and parties', async () => {
  const reference = await contradict(FAILED, COMPLETED)
  const page = await openScreen('exceptions?kind=late_completion')
  const row = rowsOf(page, 'Exceptions').filter({ hasText: reference })
  await row.getByRole('button', { name: 'Refund' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('100.00 GHS').waitFor()
  await dialog.getByText(/customer \+233\*+4444 at GCB/).waitFor()
  await dialog.locator('dd', { hasText: /^GCB$/ }).waitFor()
  await dialog.getByRole('button', { name: 'Refund' }).click()
  await row.getByText('resolved', { exact: true }).waitFor()
  expect(await service.show(reference)).toMatchObject({ refund: { amount: '100.00' } })
})

test('an exception of a kind of a later version is shown without actions', async () => {
  const reference = (await contradict(COMPLETED, FAILED)) as Reference
  const [exception] = await findExceptions(reference)
  if (!exception) throw new Error('the second report is an exception')
  await putException({ ...exception, kind: 'later_kind' })
  const page = await openScreen('exceptions')
  const row = rowsOf(page, 'Exceptions').filter({ hasText: reference })
  await row.getByText('later_kind').waitFor()
  await row.getByText('Only a later version of the service knows this kind').waitFor()
  expect(await row.getByRole('button').count()).toBe(0)
})

test('the screen shows each invariant in green or red, and links what differs', async () => {
  const reference = await contradict(COMPLETED)
  const page = await openScreen('reconciliation')
  await page.getByText('No differences').waitFor()
  await rowsOf(page, 'Invariants')
    .filter({ hasText: 'An accepted charge exists unchanged' })
    .getByText('holds')
    .waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await page.route('**/console/operator', async (route) => {
    if (!route.request().postData()?.includes('"run"')) return route.continue()
    const response = await route.fetch()
    const reply = await response.json()
    const [first] = reply.data.invariants
    Object.assign(first, {
      differences: 1,
      examples: [{ provider: 'demo', subject: reference, difference: 'is missing' }],
    })
    reply.data.differences = 1
    await route.fulfill({ response, json: reply })
  })
  await page.getByRole('button', { name: 'Check again' }).click()
  await page.getByText('Differences: 1').first().waitFor()
  const broken = rowsOf(page, 'Invariants').first()
  await broken.getByText('is missing').waitFor()
  const linked = await broken.getByRole('link', { name: reference }).getAttribute('href')
  expect(linked).toBe(`#/debit/${reference}`)
  expect(await legibilityFindings(page)).toEqual([])
})

test('the screen compares an uploaded statement, and links the debits that differ', async () => {
  const reference = await contradict({ ...COMPLETED, bank_reference: 'S,1' })
  const { uuid, completed_at } = await service.show(reference)
  const page = await openScreen('reconciliation')
  await page.getByText('No statement yet').waitFor()
  await page.getByRole('combobox', { name: 'Bank', exact: true }).selectOption('GCB')
  const upload = async (...lines: string[]) => {
    const buffer = Buffer.from(`${lines.join('\n')}\n`)
    const file = { name: 'statement.csv', mimeType: 'text/csv', buffer }
    await page.getByLabel('CSV or camt.053').setInputFiles(file)
    await page.getByRole('button', { name: 'Compare' }).click()
  }
  const header = 'uuid,bank_reference,amount,currency,completed_at'
  await upload(header, `${uuid},"S,1",90.00,GHS,${completed_at}`)
  const different = rowsOf(page, 'Different').filter({ hasText: 'the amount is 100.00 here' })
  await different.getByRole('link', { name: reference }).waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await page.getByRole('heading', { name: /^GCB, / }).waitFor()
  await upload('amount')
  await page.getByRole('alert').getByText('line 1: column currency is missing').waitFor()
  expectProblem(/status of 422/)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download an example' }).click(),
  ])
  await page.getByLabel('CSV or camt.053').setInputFiles(await download.path())
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByText('The statement agrees').waitFor()
  await page.getByRole('combobox', { name: 'Bank', exact: true }).selectOption('ECO')
  await page.getByText('No statement yet').waitFor()
})

test('a change appears live with old and new values, and the list is filtered by provider', async () => {
  const page = await openScreen('changes')
  await rowsOf(page, 'Changes').first().waitFor()
  await service.call('provider', 'update', { provider: 'other', name: 'Other Ltd' })
  const row = rowsOf(page, 'Changes').filter({ hasText: 'provider update' })
  await row.getByText('Other Payments → Other Ltd').waitFor()
  await page.getByLabel('Provider').selectOption('fenced')
  await row.waitFor({ state: 'detached' })
  await rowsOf(page, 'Changes').filter({ hasText: 'provider create' }).waitFor()
  expect(await legibilityFindings(page)).toEqual([])
})

test('a time without changes has an empty list; a failed call can be repeated', async () => {
  const page = await openScreen('changes?from=2020-01-01&to=2020-01-02')
  await page.getByText('No change matches these filters').waitFor()
  let isDown = true
  await page.route('**/console/operator', (route) => (isDown ? route.abort() : route.continue()))
  await page.evaluate("location.hash = '#/changes?provider=demo'")
  await page.getByText('The console is not reachable').first().waitFor()
  const again = page.getByRole('button', { name: 'Try again' })
  const repeated = page.waitForRequest('**/console/operator')
  await again.click()
  await repeated
  isDown = false
  // A change that the page sees now loads the list too, and removes the button.
  const rows = rowsOf(page, 'Changes')
  await again.or(rows.first()).first().dispatchEvent('click')
  await rows.first().waitFor()
  expectProblem(/net::ERR_FAILED .*console\/operator/)
})

const countOpen = async (): Promise<number> =>
  (await service.call('exception', 'list', { status: 'open' })).length

test('the screen of open matters counts exceptions live, and links to their list', async () => {
  const page = await openScreen('now')
  const row = rowsOf(page, 'Open matters').filter({ hasText: 'Exceptions' })
  const before = await countOpen()
  await row.getByText(String(before), { exact: true }).waitFor()
  await contradict(FAILED)
  await contradict(COMPLETED, FAILED)
  await row.getByText(String(before + 1), { exact: true }).waitFor()
  await rowsOf(page, 'Open matters').filter({ hasText: 'Failed payouts' }).waitFor()
  await row.getByText(`${before + 1} of the last hour`).waitFor()
  const held = rowsOf(page, 'Open matters').filter({ hasText: 'Providers held by a restore' })
  await held.getByText('0', { exact: true }).waitFor()
  await service.call('restore', 'begin', { generation: '2' })
  await held.getByText(/\bdemo\b/).waitFor()
  await service.call('restore', 'release')
  await held.getByText('0', { exact: true }).waitFor()
  const link = page.getByRole('link', { name: `Exceptions ${before + 1}` })
  expect(await link.getAttribute('href')).toBe('#/exceptions?status=open')
  const bank = rowsOf(page, 'Outcomes by bank').filter({ hasText: 'GCB' })
  await bank.getByText(/^\d+ %$/).waitFor()
  await bank.getByText('insufficient funds').waitFor()
  await rowsOf(page, 'Outcomes by provider').filter({ hasText: 'demo' }).waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  await row.getByRole('link').click()
  await page.getByRole('heading', { name: 'Exceptions' }).waitFor()
  await page.waitForURL(/status=open/)
  await reloadWith(page, { nouns: [] })
  await page.goto(`${service.sandbox().address}/console#/now?delivery=1`)
  await page.getByText('No list has been read').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

/** Opens the screen of open matters with changed replies. @returns the row of the exceptions */
const openNow = async (change: (page: Page) => Promise<unknown>) => {
  const page = await openScreen('now')
  const row = rowsOf(page, 'Open matters').filter({ hasText: 'Exceptions' })
  await row.waitFor()
  await change(page)
  await page.reload()
  return { page, row }
}

test('a list of open matters that cannot be read shows its failure until it is read', async () => {
  let restore = () => {}
  const { page, row } = await openNow(async (opened) => {
    restore = await failCalls(opened, '"exception","verb":"list"')
  })
  await row.getByRole('alert').getByText('Is throttled').waitFor()
  await row.getByRole('button', { name: 'Try again' }).waitFor()
  await row.getByText('0?', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Exceptions 0?' }).waitFor()
  expect(await legibilityFindings(page)).toEqual([])
  restore()
  await contradict(COMPLETED, FAILED)
  await row.getByText(String(await countOpen()), { exact: true }).waitFor()
  expect(await row.getByRole('alert').count()).toBe(0)
  expectProblem(/status of 502/)
})

test('a count of a list with more pages ends with a plus, without the oldest time', async () => {
  await contradict(COMPLETED, FAILED)
  const count = await countOpen()
  const { page, row } = await openNow(async (opened) => {
    for (const noun of ['exception', 'debit']) {
      await changeList(opened, noun, { next_cursor: 'LATER' })
    }
  })
  await row.getByText(`${count}+`, { exact: true }).waitFor()
  await row.getByText(`of the newest ${count}: ${count} of the last hour`).waitFor()
  expect(await row.getByRole('time').count()).toBe(0)
  await page.getByRole('link', { name: `Exceptions ${count}+` }).waitFor()
  await page.getByText(/^Debits before the newest \d+ are not counted\.$/).waitFor()
})
