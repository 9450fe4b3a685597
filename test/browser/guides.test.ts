import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { useService } from '../support/running-service.ts'
import { legibilityFindings, useBrowser } from './browser.ts'

const service = useService()
const { open } = useBrowser()

const openGuide = (name: string) => open(`${service.sandbox().address}/docs/guides/${name}`)

test.each(globSync('docs/*.md').map((file) => basename(file, '.md')))(
  'the guide %s is legible at every width, in light and dark',
  async (name) => {
    expect(await legibilityFindings(await openGuide(name))).toEqual([])
  },
)

test('the guides, the reference and the start page lead to each other', async () => {
  const page = await open(`${service.sandbox().address}/`)
  await page.getByRole('link', { name: 'Guides' }).click()
  await page.getByRole('heading', { name: 'Integrate in ten minutes' }).waitFor()
  await page.getByRole('link', { name: 'Settlement', exact: true }).first().click()
  await page.getByRole('heading', { name: 'From debit to payout' }).waitFor()
  await page.getByRole('link', { name: 'Reference' }).click()
  await page.getByRole('heading', { name: 'Debit collection service' }).waitFor()
  await page.getByRole('link', { name: 'Guides' }).click()
  await page.getByRole('link', { name: 'Start', exact: true }).click()
  await page.getByRole('heading', { name: 'Debit collection sandbox' }).waitFor()
})

test('a reply of one line is wrapped, so that it is read without scrolling', async () => {
  const page = await openGuide('tour')
  const replies = page.locator('pre', { has: page.locator('.language-json') })
  expect(await replies.count()).toBe(3)
  const hidden = await replies.evaluateAll((all) =>
    all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth),
  )
  expect(hidden).toEqual([])
})

test('the page of a `doc_url` scrolls to the row of its code, below the bar', async () => {
  const { body } = await service.get('/api/v1/payment-providers/debit-requests/none')
  const page = await open(body.error.doc_url)
  const row = page.getByRole('row').filter({ has: page.locator('#c3404') })
  const bar = await page.getByRole('navigation', { name: 'Pages' }).boundingBox()
  const box = await row.boundingBox()
  expect(box?.y).toBeGreaterThanOrEqual(bar?.height ?? 0)
  expect(box?.y).toBeLessThan(900)
})
