export const Feedback = () => <p>feedback</p>
