import type { ComponentType } from 'preact'
import { DebitScreen } from './screens/debit.tsx'
import { DebitsScreen } from './screens/debits.tsx'
import { RequestsScreen } from './screens/requests.tsx'
import { WebhookScreen } from './screens/webhook.tsx'
import { WebhooksScreen } from './screens/webhooks.tsx'

export type ScreenRow = {
  /** The first part of the address. */
  path: string
  title: string
  /** The heading of its link; a screen without one belongs to the screen `under`. */
  group?: 'Payments' | 'Money' | 'Set-up' | 'Checks'
  under?: string
  /** The noun that the operator must be allowed to use. */
  noun?: string
  isForSandbox?: boolean
  View: ComponentType
}

/** The screens in the order of their links. */
export const screens: readonly ScreenRow[] = [
  { path: 'debits', title: 'Debits', group: 'Payments', noun: 'debit', View: DebitsScreen },
  { path: 'debit', title: 'Debit', under: 'debits', noun: 'debit', View: DebitScreen },
  { path: 'webhooks', title: 'Webhooks', group: 'Payments', noun: 'webhook', View: WebhooksScreen },
  { path: 'webhook', title: 'Webhook', under: 'webhooks', noun: 'webhook', View: WebhookScreen },
  {
    path: 'requests',
    title: 'Requests',
    group: 'Payments',
    isForSandbox: true,
    View: RequestsScreen,
  },
]
