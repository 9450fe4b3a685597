import type { Page } from 'playwright-core'
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
