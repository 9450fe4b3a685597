import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test, vi } from 'vitest'
import { dayAfter, dayOf, HOUR_MS } from '../../shared/domain/time.ts'
import { createPayee } from '../support/payee.ts'
import { FAILS_AT_ONCE, SILENT } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'
import { useSubscribers } from '../support/subscriber.ts'
import { useConsole } from './console.ts'

/**
 * Every screen of the console after two days of a service, for docs/console.md#pictures. With a folder in `PICTURES`,
 * each picture is taken again.
 */

const OPERATOR = 'kofi'
vi.stubEnv('OPERATOR_NAME', OPERATOR)

const service = useService()
const call = (
  noun: string,
  verb: string,
  options: Record<string, string>,
  by = `local:${OPERATOR}`,
) => service.call(noun, verb, options, by)
const { receiver, subscribe } = useSubscribers(service)
const { openScreen } = useConsole(service)
const folder = process.env.PICTURES

const paths = [...readFileSync('console/page/screens.ts', 'utf8').matchAll(/path: '(\w+)'/g)].map(
  ([, path = '']) => path,
)

/** The object of each screen that shows one, and the filters without which a screen is empty. */
const objects: Record<string, string> = { webhook: 'kasapa', provider: 'kasapa', bank: 'GCB' }

const BANKS_NO = { status: 'failed', bank_reference: 'GCB-4711', error_message: 'Declined' }
const BANKS_YES = { status: 'completed', bank_reference: 'GCB-4711' }

const completeLate = async (credential: string): Promise<string> => {
  const fields = { phone_number: SILENT, amount: '1250.00' }
  const { reference, uuid } = await service.chargeUntil('processing', fields, credential)
  await service.report(uuid, BANKS_NO)
  await service.report(uuid, BANKS_YES)
  return reference
}

beforeAll(async () => {
  const { clock } = service.sandbox().control
  const today = () => dayOf(clock.now())
  const payee = await createPayee(service, 'kasapa', { name: 'Kasapa Pay' })
  const { credential } = payee
  await call('webhook', 'set', { provider: 'kasapa', url: receiver.url('/kasapa') })
  const [first = ''] = await payee.complete('420.00', '75.50', '1310.00', '18.00')
  const funding = { bank: 'GCB', amount: '1823.50', reference: 'REMIT-0042', date: today() }
  await call('funding', 'record', funding)
  await clock.advance(24 * HOUR_MS)
  await payee.complete('99.00', '640.00')
  // The nights build the batch of each day, and pay the first.
  await clock.advance(24 * HOUR_MS)
  await payee.reverse(first, 'The order was cancelled')
  await service.chargeUntil('failed', { phone_number: FAILS_AT_ONCE }, credential)
  await service.chargeUntil('processing', { phone_number: SILENT, amount: '36.00' }, credential)
  const failing = await subscribe('novapay')
  failing.respond(500)
  await failing.debit('failed')
  objects.debit = await completeLate(credential)
  const [batch] = await call('settlement', 'list', { provider: 'kasapa' })
  objects.batch = batch.id
  const holiday = { date: dayAfter(today(), 3), name: 'Farmers’ Day' }
  await call('calendar', 'add', holiday)
  objects.customers = `?phone=${encodeURIComponent(FAILS_AT_ONCE)}`
  vi.stubEnv('APPROVALS', 'true')
  await call('provider', 'update', { provider: 'kasapa', 'fee-basis-points': '120' }, 'local:ama')
  vi.stubEnv('APPROVALS', undefined)
})

const picture = async (page: Page, name: string): Promise<void> => {
  if (folder) await page.screenshot({ path: join(folder, `console-${name}.png`) })
}

test('each screen shows what it loads, and has a picture', async () => {
  const page = await openScreen('now')
  const address = page.url().split('#')[0]
  const described = readFileSync('docs/console.md', 'utf8')
  expect(paths.length).toBeGreaterThan(20)
  for (const path of paths) {
    const object = objects[path] ?? ''
    await page.goto('about:blank')
    await page.goto(`${address}#/${path}${object.startsWith('?') ? '' : '/'}${object}`)
    await page.locator('main h1').waitFor()
    await page.getByText('Loading…').first().waitFor({ state: 'hidden' })
    expect([path, await page.getByRole('alert').allTextContents()]).toEqual([path, []])
    await picture(page, path)
    expect(described).toContain(`(images/console-${path}.png)`)
  }
  await page.setViewportSize({ width: 390, height: 760 })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(`${address}#/settlement`)
  await page.getByRole('table').first().waitFor()
  await picture(page, 'narrow')
})
