import type { Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { healthy, type StageState, startStageEndpoint } from '../commands/smoke/stage-endpoint.ts'
import { printedBy, useCommands } from '../support/commands.ts'
import type { Service } from '../support/running-service.ts'
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
