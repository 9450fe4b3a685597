import type { CustomerAccount } from './banks/bank.ts'
import type { ChargeRequest } from './debits/charge.ts'
import type { Changes, Debit, Facts } from './debits/debit.ts'
import type { ReportException } from './debits/exception.ts'
import type { Refund } from './debits/refund.ts'
import type { SettlementAccount } from './providers/provider.ts'
import type { Line } from './settlement/batch.ts'
import type { Attempt } from './webhooks/attempt.ts'

/**
 * Every field that can name a person, by the item that stores it (docs/compliance.md#personal-data).
 * A new field of a listed object does not compile until it has a fate. A new item fails its test until it has a
 * row. Nothing reports a new member of another object, such as a batch.
 */

/**
 * `plain` names no customer and may be logged. The others are never logged: `kept` stays, because
 * books and callers refer to it, and an erasure removes `erased`.
 */
type Fate = 'plain' | 'kept' | 'erased'
type Fates<T> = Record<keyof Required<T>, Fate>

type PersonalItem = {
  /** The names of the items in docs/table.md. */
  items: readonly string[]
  /** Who reads the fields in replies. */
  replies: string
  /** How long the item keeps the fields. */
  life: string
  fields: Record<string, Fate>
}

const UNTIL_ERASED = 'until an erasure or `retainYears`'

export const personalData = {
  facts: {
    items: ['Debit'],
    replies: 'provider, bank; operators without the number',
    life: UNTIL_ERASED,
    fields: {
      reference: 'plain',
      uuid: 'plain',
      provider: 'plain',
      providerName: 'plain',
      partnerReference: 'kept',
      bank: 'plain',
      phone: 'erased',
      amount: 'plain',
      narration: 'erased',
      metadata: 'erased',
      countedOn: 'plain',
    } satisfies Fates<Facts>,
  },
  debit: {
    items: [],
    replies: 'provider, bank, operators',
    life: UNTIL_ERASED,
    fields: {
      status: 'plain',
      version: 'plain',
      approval: 'plain',
      reversalRequest: 'plain',
      settledIn: 'plain',
      settledChunk: 'plain',
      adjustedIn: 'plain',
      adjustedChunk: 'plain',
      erasedAt: 'plain',
    } satisfies Fates<Omit<Debit, 'facts' | 'history'>>,
  },
  changes: {
    items: ['Debit'],
    replies: 'provider, bank; operators without name and account',
    life: UNTIL_ERASED,
    fields: {
      bankReference: 'kept',
      approvalMethod: 'plain',
      fee: 'plain',
      // Those of the service itself stay.
      errorMessage: 'erased',
      errorCode: 'plain',
      customerName: 'erased',
      accountNumber: 'erased',
      refund: 'plain',
      metadata: 'erased',
    } satisfies Fates<Changes>,
  },
  refund: {
    items: ['Refund'],
    replies: 'provider and operators without the account',
    life: UNTIL_ERASED,
    fields: {
      uuid: 'plain',
      reference: 'plain',
      debitUuid: 'plain',
      provider: 'plain',
      providerName: 'plain',
      bank: 'plain',
      amount: 'plain',
      debitBankReference: 'kept',
      accountNumber: 'erased',
      origin: 'plain',
      reason: 'erased',
      status: 'plain',
      createdAt: 'plain',
      processedAt: 'plain',
      sentAt: 'plain',
      completedAt: 'plain',
      failedAt: 'plain',
      notedAt: 'plain',
      // Those of the service itself stay.
      failure: 'erased',
      bankReference: 'kept',
      failed: 'erased',
      version: 'plain',
    } satisfies Fates<Refund>,
  },
  exception: {
    items: ['Exception'],
    replies: 'operators; of a request also its provider',
    life: UNTIL_ERASED,
    fields: {
      reference: 'plain',
      kind: 'plain',
      at: 'plain',
      provider: 'plain',
      bank: 'plain',
      amount: 'plain',
      by: 'plain',
      requestId: 'plain',
      status: 'plain',
      code: 'plain',
      details: 'erased',
      report: 'erased',
      request: 'plain',
      resolvedAt: 'plain',
      resolvedBy: 'plain',
      note: 'erased',
      isAccepted: 'plain',
    } satisfies Fates<ReportException>,
  },
  attempt: {
    items: ['Delivery', 'Receipt', 'Attempt'],
    replies: 'provider, operators',
    life: `${UNTIL_ERASED}; attempts before the last 30 days`,
    fields: {
      id: 'plain',
      number: 'plain',
      at: 'plain',
      sentAt: 'plain',
      milliseconds: 'plain',
      address: 'plain',
      sentAs: 'plain',
      responseCode: 'plain',
      // A receiver can repeat what it was sent.
      responseBody: 'erased',
      cause: 'plain',
    } satisfies Fates<Attempt>,
  },
  account: {
    items: ['Customer account', 'Plain options', 'Bulk rows'],
    replies: 'bank, operators',
    life: 'until an erasure or unlinking; options of requests a day, uploaded rows two days',
    fields: {
      customerName: 'erased',
      accountNumber: 'erased',
      accountType: 'plain',
      status: 'plain',
    } satisfies Fates<CustomerAccount>,
  },
  settlementAccount: {
    items: ['Payee', 'Batch'],
    replies: 'operators',
    life: 'while the provider and its batches exist',
    fields: {
      bank: 'plain',
      accountNumber: 'kept',
      accountName: 'kept',
    } satisfies Fates<SettlementAccount>,
  },
  line: {
    items: ['Lines'],
    replies: 'provider, operators',
    life: 'as its batch',
    fields: {
      type: 'plain',
      reference: 'plain',
      partnerReference: 'kept',
      bankReference: 'kept',
      bank: 'plain',
      completedAt: 'plain',
      gross: 'plain',
      fee: 'plain',
      net: 'plain',
    } satisfies Fates<Line>,
  },
  chargeRequest: {
    items: [],
    replies: 'none',
    life: 'its debit',
    fields: {
      phone_number: 'erased',
      bank_identifier: 'plain',
      amount: 'plain',
      currency: 'plain',
      narration: 'erased',
      partner_reference: 'kept',
      metadata: 'erased',
    } satisfies Fates<ChargeRequest>,
  },
} as const satisfies Record<string, PersonalItem>

type PersonalItems = typeof personalData
export type PersonalRow = keyof PersonalItems
/** The fields of an item with a fate. */
type FieldsOf<R extends PersonalRow, F extends Fate> = {
  [K in keyof PersonalItems[R]['fields']]: PersonalItems[R]['fields'][K] extends F ? K : never
}[keyof PersonalItems[R]['fields']]

/** Returns an object without the fields that an erasure removes. */
export const withoutErased = <R extends PersonalRow, T extends object>(
  row: R,
  members: T,
): Omit<T, FieldsOf<R, 'erased'>> => {
  const fates: Record<string, Fate> = personalData[row].fields
  return Object.fromEntries(
    Object.entries(members).filter(([name]) => fates[name] !== 'erased'),
  ) as Omit<T, FieldsOf<R, 'erased'>>
}

/** Returns the names of the fields that an erasure removes. */
export const erasedFields = <R extends PersonalRow>(row: R) =>
  Object.entries<Fate>(personalData[row].fields)
    .filter(([, fate]) => fate === 'erased')
    .map(([name]) => name as FieldsOf<R, 'erased'> & string)
