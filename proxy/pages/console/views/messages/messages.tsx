export const Messages = () => <p>messages</p>
