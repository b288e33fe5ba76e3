import { words } from '../../words.ts'
import { pageData } from '../../../frame/page-data.ts'
import { draft } from './draft.ts'

/** The message as pilgrims see it: in LINE, and on devices that get it by Web Push. */
export const Previews = () => (
  <div class="stack previews">
    <LinePreview />
    <NoticePreview />
  </div>
)

/** As LINE shows it: a card with a title, else a picture and a text. The picture itself is not loaded. */
function LinePreview() {
  const said = words.value.messages
  const { title, text, image } = draft.value
  const empty = text === '' && image === ''
  return (
    <figure class="line-preview">
      <figcaption class="small quiet">{said.preview}</figcaption>
      <div class="line-chat">
        <span class="line-name small">{pageData().name}</span>
        {empty ? <p class="line-bubble quiet">{said.previewEmpty}</p> : null}
        {title === '' ? (
          <>
            {image === '' ? null : <Picture url={image} />}
            {text === '' ? null : <p class="line-bubble">{text}</p>}
          </>
        ) : (
          <div class="line-card">
            {image === '' ? null : <Picture url={image} />}
            <strong>{title}</strong>
            <p>{text}</p>
          </div>
        )}
      </div>
    </figure>
  )
}

/** A notice has no picture; a message without a text is not sent as one. */
function NoticePreview() {
  const said = words.value.messages
  const { title, text, image } = draft.value
  const missing = image === '' ? said.previewEmpty : said.noticeEmpty
  return (
    <figure class="notice-preview">
      <figcaption class="small quiet">{said.noticePreview}</figcaption>
      <div class="phone-notice">
        <strong>{title === '' ? pageData().name : title}</strong>
        <p class="small">{text === '' ? missing : text}</p>
      </div>
    </figure>
  )
}

const Picture = ({ url }: { readonly url: string }) => <span class="line-picture small">{url}</span>
