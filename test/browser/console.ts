import type { Locator, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { healthy, type StageState, startStageEndpoint } from '../commands/smoke/stage-endpoint.ts'
import { printedBy, useCommands } from '../support/commands.ts'
import type { Service, Shown } from '../support/running-service.ts'
import { useBrowser } from './browser.ts'

/** Opens screens of a service's console in Chromium. */
export const useConsole = (service: Service) => {
  const { open, ...others } = useBrowser()
  return {
    open,
    openScreen: (path: string): Promise<Page> =>
      open(`${service.sandbox().address}/console#/${path}`),
    ...others,
  }
}

export const rowsOf = (page: Page, table: string | RegExp) =>
  page.getByRole('table', { name: table, exact: true }).locator('tbody').getByRole('row')

/** Reloads a page whose console has other settings. */
export const reloadWith = async (page: Page, settings: object): Promise<void> => {
  await changeReply(page, '/console/settings', settings)
  await page.reload()
}

/** Changes the replies of a path to requests whose body has a text. */
export const changeReplies = (
  page: Page,
  path: string,
  text: string,
  change: (reply: Shown) => object,
) =>
  page.route(`**${path}`, async (route) => {
    if (!(route.request().postData() ?? '').includes(text)) return route.fallback()
    const response = await route.fetch()
    await route.fulfill({ response, json: change(await response.json()) })
  })

/** Changes members of the replies of a path to requests whose body has a text. */
export const changeReply = (page: Page, path: string, members: object, text = '') =>
  changeReplies(page, path, text, ({ data, ...reply }) => ({
    ...reply,
    data: { ...data, ...members },
  }))

/** Changes members of the replies of a list, and of each row. */
export const changeList = (page: Page, noun: string, members: object, ofRow: object = {}) =>
  changeReplies(page, '/console/operator', `"${noun}","verb":"list"`, ({ data, ...reply }) => ({
    ...reply,
    ...members,
    data: data.map((row: object) => ({ ...row, ...ofRow })),
  }))

/** Fails the calls whose body has a text. @returns a function that ends it */
export const failCalls = async (page: Page, text: string, status = 502): Promise<() => void> => {
  let isFailing = true
  await page.route('**/console/operator', (route) =>
    isFailing && route.request().postData()?.includes(text)
      ? route.fulfill({ status, json: { error: { message: 'is throttled' } } })
      : route.fallback(),
  )
  return () => {
    isFailing = false
  }
}

type Fields = Record<string, string>

/** Fills the fields of the open dialog by their labels; a choice gets its value or its label. */
export const fill = async (page: Page, fields: Fields): Promise<void> => {
  for (const [label, value] of Object.entries(fields)) {
    const field = page.getByRole('dialog').getByLabel(label)
    const isChoice = await field.evaluate(({ tagName }) => tagName === 'SELECT')
    await (isChoice ? field.selectOption(value) : field.fill(value))
  }
}

/** Fills the open dialog, and submits it by its button. */
export const submit = async (page: Page, name: string, fields: Fields = {}): Promise<void> => {
  await fill(page, fields)
  await page.getByRole('dialog').getByRole('button', { name }).click()
}

/** Presses a button, and submits the dialog that it opens. */
export const call = async (from: Page | Locator, name: string, fields?: Fields): Promise<void> => {
  await from.getByRole('button', { name }).click()
  await submit('page' in from ? from.page() : from, name, fields)
}

/** Returns a function that serves the console of a stage, whose functions are those of a service. */
export const useStage = (service: Service) => {
  const start = useCommands()
  return async (state: StageState = healthy): Promise<string> => {
    const { env, stop } = await startStageEndpoint(service.sandbox().address, state)
    onTestFinished(stop)
    const words = ['commands/console.ts', '--stage', 'sandbox', '--port', '0']
    return printedBy(start(words, env), /^ready (http:\S+)$/m)
  }
}
