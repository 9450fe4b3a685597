import { type Operation, TABLE } from './operation.ts'

/** Expressions that random seldom comes upon: at the edges of the grammar, and beyond. */

type Odd = readonly [text: string, values?: Record<string, unknown> | undefined]

const Key = { pk: 'p', sk: 's' }

/** What every one of them is about. */
export const theItem = {
  ...Key,
  n: 5,
  m: { a: 1, 'x.y': 2, l: [1, 2, 3] },
  l: ['a', 'b', 'c'],
  t: 'text',
  u: 'é😀',
  b: true,
  z: null,
  e: '',
  neg: -1.5,
  byTime: 't',
}

const five = { ':v': 5 }
const one = { ':v': 1 }
const list = { ':v': ['q'] }
const two = { ':v': 'x', ':w': 'y' }

const each = (values: Odd[1], ...texts: readonly string[]): Odd[] =>
  texts.map((text) => [text, values])

const conditions: readonly Odd[] = [
  ...each(five, '(n) = :v', 'n = (:v)', '((n = :v))', '((n)) = :v', '((n) = :v)', '(n = :v) = :v'),
  ...each(five, 'NOT NOT n = :v', 'not n = :v', 'NOT (n) = :v', '((n = :v) AND (n = :v))'),
  ...each(
    five,
    'n=:v',
    'n<>:v',
    'n  =\n\t:v',
    'n == :v',
    'n-1 = :v',
    '1n = :v',
    '_n = :v',
    'n = :v)',
  ),
  ...each(five, '(n = :v', 'n = :v OR', ':v = :v', 'n BETWEEN :v AND n', '(n) IN ((:v))'),
  ...each(one, 'size(b) >= :v', 'size(z) >= :v', 'size(gone) <> :v', 'NOT size(gone) = :v'),
  ...each(one, 'size(n) <> :v', 'NOT size(n) = :v', 'Size(l) = :v', '(size(l)) > :v'),
  ...[1, 2, 3, 4, 6].map((size): Odd => ['size(u) = :v', { ':v': size }]),
  ...each(undefined, '', 'foo(n)', 'n AND n', 'size(l)', 'n IN (n)', 'n BETWEEN n AND n', 'n = n'),
  ...each(undefined, 'contains(l, l)', 'contains(l, t)', 'begins_with(t, t)', 'begins_with(t, e)'),
  ...each(undefined, 'attribute_exists(n, t)', 'n = attribute_exists(n)', 'contains(t)'),
  ...each(undefined, 'attribute_type(n, t)', 'attribute_exists(m.l[2])', 'size(n) = n'),
  ...['N', 'X', 5].map((type): Odd => ['attribute_type(n, :v)', { ':v': type }]),
  ['attribute_exists(:v)', five],
  ['attribute_exists(n) = :v', { ':v': true }],
  ['begins_with(:v, t)', { ':v': 'textual' }],
  ['begins_with(t, :v)', five],
  ['size(:v) = n', { ':v': 'abcde' }],
  ['size(:v) = n', five],
  ['contains(:v, t)', { ':v': ['text'] }],
  ['contains(t, :v)', { ':v': '' }],
  ['contains(m, :v)', { ':v': 'a' }],
  ['contains(l, :v)', { ':v': ['a'] }],
  ['m . a = :v', one],
  ['l [ 0 ] = :v', { ':v': 'a' }],
  ['l[00] = :v', { ':v': 'a' }],
  ['n > :v', { ':v': true }],
  ['n BETWEEN :v AND :w', { ':v': 1, ':w': 'a' }],
  ['n BETWEEN :v AND :w', { ':v': 9, ':w': 1 }],
  ['gone <> q'],
  ['gone <> :v', { ':v': null }],
  ['z = :v', { ':v': null }],
  ['m = :v', { ':v': { l: [1, 2, 3], 'x.y': 2, a: 1 } }],
]

const updates: readonly Odd[] = [
  ...each(two, 'SET l[5] = :v, l[7] = :w', 'SET l[7] = :v, l[5] = :w', 'SET l[3] = :v, l[4] = :w'),
  ...each(
    two,
    'SET l[5] = :v, l[3] = :w REMOVE l[0], l[4]',
    'SET l[3] = :v, l[4] = :w REMOVE l[3]',
    'SET l[1] = :v, e = :w REMOVE l[0], l[2]',
    'REMOVE m.l[0] SET m.l[5] = :v, t = :w',
  ),
  ...each(
    undefined,
    'REMOVE l[9]',
    'REMOVE l[0], l[1], l[2]',
    'REMOVE gone',
    'REMOVE gone.a',
    'REMOVE t, t',
  ),
  ...each(
    undefined,
    'REMOVE n.a',
    'REMOVE m.gone',
    'REMOVE m[0]',
    'REMOVE l.a',
    'REMOVE gone[0]',
    'REMOVE sk',
  ),
  ...each(five, 'SET n.a = :v', 'SET l.a = :v', 'SET m[0] = :v', 'SET m.q.r = :v', 'SET pk = :v'),
  ...each(
    five,
    'ADD gone :v',
    'ADD t :v',
    'ADD m.gone :v',
    'ADD l[0] :v',
    'ADD l[9] :v',
    'ADD gone.a :v',
  ),
  ...each(five, 'SET n = :v - n', 'SET n = n + :v + :v', 'SET n = (n + :v)', 'SET n = ((n + :v))'),
  ...each(five, 'SET n = if_not_exists(gone, n) + :v', 'SET n = if_not_exists(gone, n + :v)'),
  ...each(
    five,
    'SET n = if_not_exists(:v, n)',
    'SET n = if_not_exists(gone, if_not_exists(z, :v))',
  ),
  ...each(
    five,
    'SET n = :v SET t = :v',
    'SET n = :v, n = :v',
    'SET n = :v REMOVE n',
    'SET n = :v,',
  ),
  ...each(
    five,
    'SET m = :v, m.a = :v',
    'SET m.a = :v, m.b = m.a',
    'SET q = n, n = :v',
    'SET (n) = :v',
  ),
  ...each(five, 'set n = :v remove t add neg :v', 'SET n :v', 'DELETE n :v', 'SET byTime = :v'),
  ...each(list, 'SET l = list_append(list_append(l, :v), :v)', 'SET n = list_append(n, :v)'),
  ...each(
    list,
    'SET l = list_append(if_not_exists(gone, :v), :v)',
    'ADD l :v',
    'SET l = list_append(:v, (l))',
  ),
  ...each(
    undefined,
    'SET l = list_append(l, t)',
    'SET n = if_not_exists(gone, list_append(l, l))',
    'FOO n',
  ),
  ...each(
    undefined,
    '',
    'SET',
    'ADD n n',
    'SET n = n + t',
    'SET n = size(l)',
    'SET n = l[0]',
    'SET q = n, t = q',
  ),
  ['ADD n :v', { ':v': 'x' }],
  ['SET neg = neg + :v', { ':v': 0.1 }],
  ['SET byTime = :v', { ':v': '' }],
  ['SET byTime = :v', { ':v': null }],
]

const keys = { ':v': 'p', ':w': 's' }

const queries: readonly Odd[] = [
  ...each(keys, 'sk = :w AND pk = :v', ':v = pk AND :w = sk', '(pk = :v) AND (sk = :w)'),
  ...each(keys, '(pk = :v AND sk = :w)', 'pk = :v AND sk <> :w', 'pk = :v OR sk = :w'),
  ...each(keys, 'pk = :v AND n = :w', 'pk = :v AND NOT sk = :w', 'pk = :v AND sk IN (:w)'),
  ...each(keys, ':w >= sk AND pk = :v', 'pk = :v AND sk BETWEEN :w AND :v', 'pk > :v AND sk = :w'),
  ...each(
    keys,
    'pk = :v AND begins_with(:w, sk)',
    'pk = :v AND size(sk) = :w',
    'sk = :w AND sk = :v',
  ),
  ['pk = pk'],
  ['pk = :v', five],
  ['pk = :v', { ':v': '' }],
  ['begins_with(pk, :v)', { ':v': 'p' }],
  ['pk = :v AND sk > :w', { ':v': 'p', ':w': '' }],
  ['pk = :v AND begins_with(sk, :w)', { ':v': 'p', ':w': '' }],
  ['pk = :v AND begins_with(sk, :w)', { ':v': 'p', ':w': 5 }],
]

const places: readonly Record<string, unknown>[] = [
  { ...Key, pk: 'q' },
  { pk: 'p' },
  { ...Key, n: 5 },
  { ...Key, sk: 'a' },
  { ...Key, sk: 't' },
]

const withValues = (values: Odd[1]): object => (values ? { ExpressionAttributeValues: values } : {})

/** Each is done on {@link theItem}, as it is there. */
export const oddOperations: readonly Operation[] = [
  ...conditions.map(([ConditionExpression, values]) => ({
    command: 'DeleteCommand',
    input: { TableName: TABLE, Key, ConditionExpression, ...withValues(values) },
  })),
  ...updates.flatMap(([UpdateExpression, values]) =>
    ['ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW'].map((ReturnValues) => ({
      command: 'UpdateCommand',
      input: { TableName: TABLE, Key, UpdateExpression, ReturnValues, ...withValues(values) },
    })),
  ),
  ...queries.map(([KeyConditionExpression, values]) => ({
    command: 'QueryCommand',
    input: { TableName: TABLE, KeyConditionExpression, ...withValues(values) },
  })),
  ...places.map((ExclusiveStartKey) => ({
    command: 'QueryCommand',
    input: {
      TableName: TABLE,
      KeyConditionExpression: 'pk = :v AND sk > :w',
      ...withValues({ ':v': 'p', ':w': 'm' }),
      ExclusiveStartKey,
    },
  })),
  { command: 'UpdateCommand', input: { TableName: TABLE, Key, ReturnValues: 'ALL_NEW' } },
  ...[{ Put: undefined }, { ConditionCheck: { TableName: TABLE, Key } }].map((part) => ({
    command: 'TransactWriteCommand',
    input: { TransactItems: [part] },
  })),
]
