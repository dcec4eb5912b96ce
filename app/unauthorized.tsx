import { Notice } from '#components/shell/notice'

export const metadata = { title: 'Not from here' }

export default function Unauthorized() {
  return (
    <Notice title="Not from here" hasWayHome={false}>
      Until people can sign in, the pages are shown only on the machine that Switchboard runs on, and only through the
      server that <code>npm start</code> runs.
    </Notice>
  )
}
