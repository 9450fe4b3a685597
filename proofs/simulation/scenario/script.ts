import * as api from '../../../shared/api/operations.ts'
import type { BankCallback } from '../../../shared/domain/debits/bank-update.ts'
import type { ChargeRequest } from '../../../shared/domain/debits/charge.ts'
import type { Malformation } from './malformed-reports.ts'

/** The script of one debit: plain values, so that it can be reduced. */

/** `HBA` and `HBB` have HTTP endpoints, `SBX` is the sandbox bank. */
export const bankNames = ['HBA', 'HBB', 'SBX'] as const
export type BankName = (typeof bankNames)[number]

export const HTTP_BANKS: readonly BankName[] = ['HBA', 'HBB']

export const PROVIDERS = 5

/** A usual amount, which some banks have as their maximum. */
export const USUAL_AMOUNT = '400.00'

/** A bank's report, and the time after the submission. */
export type ScriptedReport = {
  afterSeconds: number
  by: 'update' | 'callback'
  status: BankCallback['status']
  /** By default the provider's schedule applies. */
  fee?: string | number
  /** A report that the service rejects or rounds, or that never arrives. */
  flaw?: Malformation | 'lost'
}

/** The fields in which a reused reference differs. */
export const DIFFERENCES = {
  amount: '1.23',
  phone_number: '+233249999999',
  bank_identifier: 'HBC',
  narration: 'Another debit',
  currency: 'USD',
  metadata: { cart: 'another' },
} as const satisfies Record<Exclude<keyof ChargeRequest, 'partner_reference'>, unknown>

/** The operations that a provider calls with a reference alone: each joins the load by its row. */
export const debitOperations = api.operationNames.filter((name) => {
  const { caller, path, body }: api.Operation = api.operations[name]
  return caller === 'provider' && path.includes('{reference}') && !body
})

export type DebitScript = {
  /** Identifies the script; part of the narration. */
  number: number
  at: number
  provider: number
  bank: BankName
  amount: string
  phone: string
  verdict: 'accepted' | 'rejected'
  reports: readonly ScriptedReport[]
  /** `invalid`: rejected. Otherwise the field that a repeat changes. */
  charge: 'once' | 'invalid' | keyof typeof DIFFERENCES
  /** The seconds until its provider sends an identical repeat, some after settings have changed. */
  repeated: number | undefined
  /** Operations of `debitOperations`, also called by another provider. */
  calls: readonly { afterSeconds: number; name: api.OperationName }[]
  redelivered: number | undefined
  reversed: number | undefined
  /** When the provider asks to reverse it. */
  requested: number | undefined
  manual?: { afterSeconds: number; verb: 'complete' | 'fail' }
  /** Whether an operator fails it while its bank replies to a query that it is completed. */
  isOvertaken?: boolean
}
