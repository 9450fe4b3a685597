import type { ComponentType } from 'preact'
import { ApprovalsScreen } from './screens/approvals.tsx'
import { BatchScreen } from './screens/batch.tsx'
import { ChangesScreen } from './screens/changes.tsx'
import { DebitScreen } from './screens/debit.tsx'
import { DebitsScreen } from './screens/debits.tsx'
import { ExceptionsScreen } from './screens/exceptions.tsx'
import { LedgerScreen } from './screens/ledger.tsx'
import { SettlementScreen } from './screens/settlement.tsx'

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
  {
    path: 'settlement',
    title: 'Settlement',
    group: 'Money',
    noun: 'settlement',
    View: SettlementScreen,
  },
  { path: 'batch', title: 'Batch', under: 'settlement', noun: 'settlement', View: BatchScreen },
  { path: 'ledger', title: 'Ledger', group: 'Money', noun: 'ledger', View: LedgerScreen },
  {
    path: 'exceptions',
    title: 'Exceptions',
    group: 'Checks',
    noun: 'exception',
    View: ExceptionsScreen,
  },
  {
    path: 'approvals',
    title: 'Approvals',
    group: 'Checks',
    noun: 'approval',
    View: ApprovalsScreen,
  },
  {
    path: 'changes',
    title: 'Operator changes',
    group: 'Checks',
    noun: 'change',
    View: ChangesScreen,
  },
]
