import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { credentials, customers } from '../../sandbox/seeds.ts'
import { useService } from '../support/running-service.ts'
import { legibilityFindings, useBrowser } from './browser.ts'

const service = useService()
const { open } = useBrowser()

const openStart = () => open(`${service.sandbox().address}/`)

test('the start page is legible at every width, in light and dark', async () => {
  expect(await legibilityFindings(await openStart())).toEqual([])
})

test('the start page shows every test number with its outcome, and every key', async () => {
  const page = await openStart()
  const rows = (await page.getByRole('row').allInnerTexts()).map((row) => row.split('\t'))
  for (const { phone, name, outcome } of customers)
    expect(rows).toContainEqual([phone, name, outcome])
  for (const { token, caller } of credentials) expect(rows).toContainEqual([token, caller])
})

test('the command of the start page, copied by its button, charges a customer', async () => {
  const page = await openStart()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const command = String(await page.evaluate('navigator.clipboard.readText()'))
  const { stdout } = await promisify(execFile)('sh', ['-c', command])
  expect(JSON.parse(stdout)).toMatchObject({ success: true, data: { status: 'pending' } })
})

test('the start page links to console, guides, reference and description', async () => {
  const page = await openStart()
  const links = page.getByRole('navigation').getByRole('link')
  const paths = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))
  expect(paths).toEqual(['/console', '/docs/guides', '/docs', '/openapi.json'])
  await links.filter({ hasText: 'API reference' }).click()
  await page.getByRole('heading', { name: 'Debit collection service' }).waitFor()
})
