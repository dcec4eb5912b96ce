'use client'

import { useQuery } from '@tanstack/react-query'
import { names } from '#lib/query/names'
import { Untrusted } from '../shell/untrusted'

/** Who did it, by the name people know them by. */
export function Actor({ actor }: { actor: string }) {
  const { data } = useQuery(names)
  const [kind, ...rest] = actor.split(':')
  const name = rest.join(':')
  if (kind === 'reaper') return <>the reaper</>
  if (kind === 'system') return <>Switchboard</>
  if (kind === 'user') return data?.has(actor) ? <Untrusted text={data.get(actor) ?? ''} /> : <>a person</>
  return (
    <>
      {kind === 'worker' ? 'worker' : 'endpoint'} <Untrusted text={name || actor} />
    </>
  )
}
