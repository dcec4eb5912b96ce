import { Notice } from '#components/shell/notice'
import { PlainFrame } from '#components/shell/plain-frame'

export const metadata = { title: 'Not found' }

export default function NotFound() {
  return (
    <PlainFrame>
      <Notice title="There is no such page">
        Nothing is wrong with Switchboard. Perhaps the address was cut short.
      </Notice>
    </PlainFrame>
  )
}
